"""Builders that turn raw opinion corpora into data sets ready for training: one module per corpus.

A corpus is a record in `metadata/NAME.yaml` and the class that it names, a `base.corpus.Corpus`; no other list of them
exists.
"""
