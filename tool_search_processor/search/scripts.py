"""The terms of text in scripts that are written without spaces, or with endings on every word.

Chinese gives overlapping pairs of characters. In Japanese, Korean and Thai, particles, verb endings and
polite phrases say nothing about a tool, and their pairs would match everywhere. So they are removed first,
and the rest gives pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_THAI = re.compile("[\u0e00-\u0e7f]")

_SEGMENTS = re.compile("(?P<hiragana>[\u3040-\u309f]+)|[^\u3040-\u309f]+")
_KATAKANA = re.compile("[\u30a0-\u30ff\u31f0-\u31ff]")

_JAPANESE_POLITE = re.compile("お願い|御願い|下さい|致し|頂き|頂け|頂く|欲しい|宜しく|有難う|何卒")
"""Polite phrases that are written with kanji."""

_JAPANESE_ENDINGS = re.compile(
    "|".join(
        sorted(
            """
            くださいませ ください いただけますか いただけませんか いただけます いただきたい
            いただきます いただく もらえますか もらえませんか もらえる もらう おねがいします
            おねがい よろしく ありがとう どうか しましょう ましょう しませんか しています
            している しておいて しておく しました しません しますか します したいです したい
            したく しない しよう して した する され される させる させて させ できますか
            できます できません できる ませんか ません ました ますか ます でしょうか
            でしょう でした ですか です である ています ている ていた ておく てほしい
            ほしい たいです たい なければ なりません ならない あります ありますか ある
            います いる なります なる という について において によって による として
            ための ために ため こと もの とき ところ から まで より など だけ しか
            ばかり のですが んですが ですが ので のに けれど これら これ それ あれ どれ
            この その あの どの ここ そこ あそこ どこ いつ だれ なに なん どう わたし
            ぼく あなた および または もし そして
            """.split(),  # noqa: SIM905 - a table of words is read, not a column
            key=len,
            reverse=True,
        )
    )
)
_JAPANESE_PARTICLES = "はがをにでともへのやかねよわぞさ"
_OKURIGANA = 2
"""Up to this many syllables after a kanji are the ending of its word."""

_KOREAN_POLITE = re.compile(
    "(?:해|하여)?(?:주세요|주십시오|주실래요|주시겠어요|줄래요?|주시면|줘요?|드려요|드립니다|드릴게요)"
    "|부탁(?:해요?|합니다|드려요|드립니다)?"
    "|싶어요?|싶습니다|싶은데요?|싶다|있나요|있어요?|있습니다|있는지?|없어요?|없습니다|좀|제발|저는|제가|나는|내가|우리"
)
_KOREAN_ENDINGS = re.compile(
    "(?:하겠습니다|했습니다|됩니다|되었습니다|됐습니다|합니다|합니까|하세요|하십시오|할까요|할게요|할래요|하고|하는|하기|하여|하자|하지"
    "|하면|하다|했어요?|해요|해서|해야|해라|한다|할|한|해|되는|되어|된|될|되다|습니다|습니까|입니다|입니까|이에요|예요|니다|세요|어요|아요|네요"
    "|나요|까요|을까|는데요?|은데요?|려고|으려고|도록)$"
)
_KOREAN_PARTICLES = re.compile(
    "(?:에서는|으로는|에서|에게서|에게|한테|으로|까지|부터|이나|이랑|처럼|보다|마다|조차|께서|들을|들이|들의|들은|들"
    "|을|를|이|가|은|는|에|로|와|과|도|의|만|께|랑)$"
)

_THAI_FUNCTION = re.compile(
    "ครับผม|นะครับ|ครับ|ค่ะ|นะคะ|คะ|กรุณา|โปรด|ช่วย|หน่อย|ต้องการ|อยากจะ|อยาก|ขอบคุณ|ผมจะ"
    "|ดิฉัน|ฉันจะ|ฉัน|สำหรับ|และ|หรือ|ด้วย|ได้ไหม|ไหม|ของ|ให้"
)


def script_terms(run: str) -> Iterator[str]:
    """Yield the terms of a run of characters of these scripts."""
    if _KANA.search(run):
        yield from _japanese(run)
    elif _HANGUL.search(run):
        yield from pairs(_korean_stem(run))
    elif _THAI.search(run):
        for part in _THAI_FUNCTION.split(run):
            yield from pairs(part)
    else:
        yield from pairs(run)


def pairs(run: str) -> Iterator[str]:
    """Yield the overlapping pairs of characters of a run, or its one character."""
    if len(run) == 1:
        yield run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


def _japanese(run: str) -> Iterator[str]:
    follows_meaning = False
    for part in _JAPANESE_POLITE.split(run):
        for segment in _SEGMENTS.finditer(part):
            if segment["hiragana"]:
                yield from _hiragana(segment[0], is_ending=follows_meaning)
            else:
                yield from pairs(segment[0])
            follows_meaning = not segment["hiragana"] and not _KATAKANA.match(segment[0][-1])
        follows_meaning = False


def _hiragana(segment: str, *, is_ending: bool) -> Iterator[str]:
    """Yield the terms of words in hiragana, without endings and particles."""
    for place, part in enumerate(_JAPANESE_ENDINGS.split(segment)):
        if len(part) <= (_OKURIGANA if is_ending and place == 0 else 1):
            continue
        word = part.rstrip(_JAPANESE_PARTICLES) if len(part) > _OKURIGANA else part
        if len(word) > _OKURIGANA and word[0] in _JAPANESE_PARTICLES:
            word = word[1:]
        if len(word) > 1 and not set(word) <= set(_JAPANESE_PARTICLES):
            yield from pairs(word)


def _korean_stem(word: str) -> str:
    """Return a word without polite phrases, its ending and its particle."""
    bare = _KOREAN_POLITE.sub("", word)
    stem = _KOREAN_ENDINGS.sub("", bare)
    return _KOREAN_PARTICLES.sub("", bare) if stem == bare else stem
