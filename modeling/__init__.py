"""Opinion-aware sentence encoders: a room per published system, and the rooms they share.

A system is a folder here with a `system.py`. Importing this package loads neither torch nor any system.
"""
