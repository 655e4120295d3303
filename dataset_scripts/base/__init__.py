"""The ground floor, without torch."""

import os

# before the engine is imported: it tells its makers, and shows a bar for each query beside that of the whole
for setting in ("DAFT_ANALYTICS_ENABLED", "DAFT_PROGRESS_BAR", "DAFT_SHOW_QUERY_ID", "RAY_ENABLE_UV_RUN_RUNTIME_ENV"):
    os.environ.setdefault(setting, "0")
