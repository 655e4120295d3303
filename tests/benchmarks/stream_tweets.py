"""Synthetic tweets in the format of the archived stream, each made out of its id; no real text, name or link."""

from __future__ import annotations

import random
import time
from typing import Any

from tests.benchmarks.stream_ids import (
    OWN,
    RETWEETED,
    SHARES,
    Links,
    kind_of,
    language_of,
    moment,
    screen_name,
    screen_name_of,
    user_of,
)
from tests.benchmarks.stream_text import CODES, Texts

# Measured like the figures of `stream_text`: shares among tweets of the minute, retweeted and quoted ones.
REPLIES = (0.454, 0.077, 0.088)
QUOTES = (0.126, 0.117, 0)  # of those that are no replies
EXTENDED = (0.111, 0.345, 0.329)
MEDIA = (0.129, 0.539, 0.640)
FILMS = 0.35  # share of the media
LINKS = (0.10, 0.20, 0.15)

USER = {"translator_type": "none", "protected": False, "verified": False}
COLOURS = {"utc_offset": None, "time_zone": None, "geo_enabled": False, "lang": None, "contributors_enabled": False,
           "is_translator": False, "profile_background_color": "F5F8FA", "profile_background_image_url": "",
           "profile_background_image_url_https": "", "profile_background_tile": False,
           "profile_link_color": "1DA1F2", "profile_sidebar_border_color": "C0DEED",
           "profile_sidebar_fill_color": "DDEEF6", "profile_text_color": "333333",
           "profile_use_background_image": True}  # fmt: skip
NOBODY = {"following": None, "follow_request_sent": None, "notifications": None}
NOWHERE = {"geo": None, "coordinates": None, "place": None, "contributors": None}
SOURCES = [f'<a href="http://twitter.com/{path}" rel="nofollow">Twitter {name}</a>' for path, name in
           (("download/iphone", "for iPhone"), ("download/android", "for Android"), ("", "Web App"),
            ("download/ipad", "for iPad"))]  # fmt: skip
SIZES = {"thumb": {"w": 150, "h": 150, "resize": "crop"}, "large": {"w": 1080, "h": 1350, "resize": "fit"},
         "medium": {"w": 960, "h": 1200, "resize": "fit"}, "small": {"w": 544, "h": 680, "resize": "fit"}}  # fmt: skip
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
CLIPS = ((2176000, "1280x720"), (832000, "640x360"), (256000, "320x180"), (64000, "160x90"))
FOLLOWERS = (("followers", 5.8), ("friends", 5.8), ("listed", 0.7), ("favourites", 8.5), ("statuses", 9.0))


class Tweets:
    """Makes tweets out of ids, for one seed and a number of statuses a minute."""

    def __init__(self, seed: int, per_minute: int) -> None:
        self.seed = seed
        self.links, self.texts = Links(seed, per_minute), Texts(seed)

    def tweet(self, key: int, nested: bool = True) -> dict[str, Any]:
        """A status of API v1.1; `nested`: with the whole of the one that it quotes."""
        draw = random.Random(key ^ self.seed << 64)
        kind, code = kind_of(key), CODES[language_of(key)]
        replies = draw.random() < (REPLIES[kind] if kind != RETWEETED else 2 * REPLIES[kind] * (key & 1))
        quotes = not replies and draw.random() < QUOTES[kind]
        extended = code != "und" and draw.random() < EXTENDED[kind]
        words = self.texts.draw(draw, code, "extended" if extended else "short reply" if replies else "short")
        parent = self.links.parent(draw, key) if replies else None
        names = [screen_name(parent)] if parent else []
        names += [screen_name(draw.getrandbits(60)) for _ in range(draw.choices((0, 1, 2), (88, 9, 3))[0])]
        quoted = self.links.quoted(draw, key) if quotes else None
        urls = [address(draw) for _ in range((draw.random() < LINKS[kind]) + (quotes and extended))]
        media = [self.medium(draw, key)] if draw.random() < MEDIA[kind] else []
        full = " ".join([*(f"@{name}" for name in names), words.replace("&", "&amp;"),
                         *(url["url"] for url in urls + media)])  # fmt: skip
        entities = {"hashtags": [{"text": word[1:], "indices": [0, 9]} for word in words.split() if word[0] == "#"],
                    "urls": urls, "user_mentions": [mention(name) for name in names], "symbols": []}  # fmt: skip
        whole = entities | ({"media": media} if media else {})
        more = {"extended_entities": {"media": media}} if media else {}
        if extended:
            here = address(draw)
            text, entities = f"{full[:110]}\u2026 {here['url']}", entities | {"urls": [here], "hashtags": []}
        else:
            text, entities = full, whole
        status = {"created_at": stamp(moment(key) // 1000), "id": key, "id_str": str(key), "text": text,
                  "source": draw.choices(SOURCES, (5, 4, 2, 1))[0], "truncated": extended,
                  **self.replying(parent), "user": self.user(user_of(key)), **NOWHERE}  # fmt: skip
        if draw.random() < 0.55:
            status["display_text_range"] = [0, 140 if extended else len(full)]
        if quoted:
            status |= {"quoted_status_id": quoted, "quoted_status_id_str": str(quoted)}
            if nested:
                status["quoted_status"] = self.tweet(quoted, nested=False)
                status["quoted_status_permalink"] = {
                    "url": address(draw)["url"], "expanded": f"https://twitter.com/i/web/status/{quoted}",
                    "display": f"twitter.com/{screen_name(quoted)[:10]}/st\u2026"}  # fmt: skip
        status["is_quote_status"] = bool(quoted)
        if extended:
            status["extended_tweet"] = {
                "full_text": full,
                "display_text_range": [0, len(full)],
                "entities": whole,
                **more,
            }
        numbers = [int((1 - draw.random()) ** -1.2) - 1 if kind != OWN else 0 for _ in range(4)]
        status |= {"quote_count": numbers[0], "reply_count": numbers[1], "retweet_count": numbers[2],
                   "favorite_count": numbers[3], "entities": entities, **({} if extended else more),
                   "favorited": False, "retweeted": False}  # fmt: skip
        if media or urls:
            status["possibly_sensitive"] = False
        return status | {"filter_level": "low", "lang": code}

    def replying(self, parent: int | None) -> dict[str, Any]:
        """The five fields that name what a tweet replies to."""
        user = user_of(parent) if parent else None
        return {"in_reply_to_status_id": parent, "in_reply_to_status_id_str": parent and str(parent),
                "in_reply_to_user_id": user, "in_reply_to_user_id_str": user and str(user),
                "in_reply_to_screen_name": parent and screen_name(parent)}  # fmt: skip

    def retweet(self, key: int, original: int) -> dict[str, Any]:
        """The status with which somebody passes on another."""
        draw = random.Random(key ^ self.seed << 64)
        inner = self.tweet(original)
        text = f"RT @{screen_name(original)}: {inner['text']}"
        outer = {"created_at": stamp(moment(key) // 1000), "id": key, "id_str": str(key),
                 "text": text if len(text) <= 140 else text[:139] + "\u2026", "source": draw.choice(SOURCES),
                 "truncated": False, **self.replying(None), "user": self.user(user_of(key)), **NOWHERE,
                 "retweeted_status": inner}  # fmt: skip
        outer |= {name: inner[name] for name in inner if name.startswith("quoted_status")}
        first, entities = mention(screen_name(original)), inner["entities"]
        shown = {"hashtags": entities["hashtags"], "urls": [] if len(text) > 140 else entities["urls"],
                 "user_mentions": [first, *entities["user_mentions"]], "symbols": []}  # fmt: skip
        if "media" in entities:
            shown["media"] = [medium | {"source_status_id": original, "source_status_id_str": str(original),
                                        "source_user_id": first["id"], "source_user_id_str": first["id_str"]}
                              for medium in entities["media"]]  # fmt: skip
        outer |= {"is_quote_status": inner["is_quote_status"], "quote_count": 0, "reply_count": 0, "retweet_count": 0,
                  "favorite_count": 0, "entities": shown}  # fmt: skip
        if "media" in shown:
            outer["extended_entities"] = {"media": shown["media"]}
        return outer | {"favorited": False, "retweeted": False, "filter_level": "low", "lang": inner["lang"]}

    def user(self, number: int) -> dict[str, Any]:
        """The account with a number."""
        draw = random.Random(number ^ self.seed << 64)
        language = draw.choices(CODES, SHARES[0])[0]
        words = self.texts.words(language)
        name = screen_name_of(number)
        described = " ".join(self.texts.draw(draw, language, "short") for _ in range(draw.randint(1, 2)))
        head = {"id": number, "id_str": str(number), "name": " ".join(draw.choices(words, k=2)).title(),
                "screen_name": name, "location": " ".join(draw.choices(words, k=2)) if draw.random() < 0.62 else None,
                "url": address(draw)["expanded_url"] if draw.random() < 0.3 else None,
                "description": described if draw.random() < 0.86 else None}  # fmt: skip
        counts = {f"{what}_count": int(draw.lognormvariate(middle, 1.6)) for what, middle in FOLLOWERS}
        born = {"created_at": stamp(draw.randint(1_230_000_000, 1_560_000_000))}
        picture = f"pbs.twimg.com/profile_images/{draw.getrandbits(60)}/{letters(draw, 8)}_normal.jpg"
        colours = COLOURS
        if draw.random() < 0.5:
            colours = COLOURS | {name: f"{draw.getrandbits(24):06X}" for name in COLOURS if name.endswith("_color")} | {
                "profile_background_image_url": "http://abs.twimg.com/images/themes/theme1/bg.png",
                "profile_background_image_url_https": "https://abs.twimg.com/images/themes/theme1/bg.png"}  # fmt: skip
        tail = {"profile_image_url": f"http://{picture}", "profile_image_url_https": f"https://{picture}"}
        if draw.random() < 0.86:
            tail["profile_banner_url"] = (
                f"https://pbs.twimg.com/profile_banners/{number}/{draw.randint(13 * 10**8, 156 * 10**7)}"
            )
        return {**head, **USER, **counts, **born, **colours, **tail, "default_profile": colours is COLOURS,
                "default_profile_image": False, **NOBODY}  # fmt: skip

    def medium(self, draw: random.Random, key: int) -> dict[str, Any]:
        """A picture, or a film."""
        number, link, file = draw.getrandbits(60), letters(draw, 10), f"pbs.twimg.com/media/{letters(draw, 15)}.jpg"
        medium = {"id": number, "id_str": str(number), "indices": [0, 23], "media_url": f"http://{file}",
                  "media_url_https": f"https://{file}", "url": f"https://t.co/{link}",
                  "display_url": f"pic.twitter.com/{link}",
                  "expanded_url": f"https://twitter.com/{screen_name(key)}/status/{key}/photo/1",
                  "type": "photo", "sizes": SIZES}  # fmt: skip
        if draw.random() < FILMS:
            film = f"https://video.twimg.com/ext_tw_video/{number}/pu"
            variants = [{"bitrate": rate, "content_type": "video/mp4", "url": f"{film}/{size}/{letters(draw, 16)}.mp4"}
                        for rate, size in CLIPS]  # fmt: skip
            facts = {"aspect_ratio": [16, 9], "duration_millis": draw.randrange(140_000), "variants": variants}
            medium |= {"type": "video", "video_info": facts, "additional_media_info": {"monetizable": False}}
        return medium


def mention(name: str) -> dict[str, Any]:
    """The entity of a mention."""
    number = int(name[5:], 16)
    return {
        "screen_name": name,
        "name": name.title(),
        "id": number,
        "id_str": str(number),
        "indices": [0, len(name) + 1],
    }


def address(draw: random.Random) -> dict[str, Any]:
    """The entity of a link."""
    path = f"example.org/{letters(draw, 6)}/{letters(draw, 16).lower()}"
    return {"url": f"https://t.co/{letters(draw, 10)}", "expanded_url": f"https://www.{path}",
            "display_url": f"{path[:24]}\u2026", "indices": [0, 23]}  # fmt: skip


def letters(draw: random.Random, length: int) -> str:
    """Random letters and digits."""
    return "".join(draw.choices(LETTERS, k=length))


def stamp(seconds: int) -> str:
    """A time as the stream has it."""
    return time.strftime("%a %b %d %H:%M:%S +0000 %Y", time.gmtime(seconds))
