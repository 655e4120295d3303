"""The page on which texts are asked in a browser, at home and as a Space."""
