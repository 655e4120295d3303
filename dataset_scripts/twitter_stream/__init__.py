"""The archived tweet stream: quotes, replies, co-quotes and co-replies as pairs, and benchmarks of ranking.

Mining is described in Di Giovanni and Brambilla (2021), section 2, the benchmarks in section 4.1. It runs on Daft, on
one machine or a Ray cluster, in stages: `parsing` reads files into rows by tweet, `pairing` draws
answers for each tweet, `sets` and `rankings` write what is published; `mining` calls them, and `builder` calls that.
"""
