"""The archived tweet stream: quotes, replies, co-quotes and co-replies as pairs, and benchmarks of ranking.

Mining is described in Di Giovanni and Brambilla (2021), section 2, the benchmarks in section 4.1. It runs on Daft, on
one machine or a Ray cluster, in stages: `parsing` reads files into rows by tweet, `pairing` draws
answers for each tweet, `sets` and `rankings` write what is published; `mining` calls them, and `builder` calls that.

What its worker processes import, this file, `statuses` and `files`, is light.
"""

import os

# before the engine is imported: it tells its makers, and shows a bar for each query beside that of the whole
for setting in ("DAFT_ANALYTICS_ENABLED", "DAFT_PROGRESS_BAR", "DAFT_SHOW_QUERY_ID", "RAY_ENABLE_UV_RUN_RUNTIME_ENV"):
    os.environ.setdefault(setting, "0")
