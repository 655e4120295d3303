"""Mining pairs of tweets from archived stream files, on Daft (Di Giovanni and Brambilla, 2021, section 2)."""
