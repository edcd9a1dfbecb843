"""Scripts without spaces, or with endings on every word: words in common count, politeness doesn't."""

from __future__ import annotations

import pytest

from tool_search_processor import Tool, ToolSearchProcessor
from tool_search_processor.search.text import terms

CATALOGS = {
    "ja": ("会議室を予約します。", "文章を翻訳します。", "天気予報を調べます。"),
    "ko": ("회의실을 예약합니다.", "문서를 번역합니다.", "날씨 예보를 조회합니다."),
    "th": ("จองห้องประชุม", "แปลเอกสาร", "ตรวจสอบพยากรณ์อากาศ"),
    "zh": ("预订会议室", "翻译文章", "查询天气预报"),
}
NAMES = ("book_room", "translate", "weather")


def processor(language):
    pairs = zip(NAMES, CATALOGS[language], strict=True)
    return ToolSearchProcessor([Tool(name, description=description) for name, description in pairs])


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("ja", "します"), ("ja", "を"), ("ja", "してください"), ("ja", "お願いします"), ("ja", "は何ですか"),
        ("ja", "ピザを注文します"), ("ja", "ピザを注文してください"), ("ja", "タクシーを呼びます"),
        ("ja", "ピザの注文をお願いします"), ("ja", "りんごを買っていただけますか"),
        ("ko", "합니다"), ("ko", "을"), ("ko", "해 주세요"), ("ko", "부탁드립니다"),
        ("ko", "피자를 주문합니다"), ("ko", "피자를 주문해 주세요"), ("ko", "택시를 불러 주세요"),
        ("th", "ครับ"), ("th", "ช่วยสั่งพิซซ่าให้หน่อยครับ"),
        ("zh", "订购披萨"),
    ],
)  # fmt: skip
async def test_particles_endings_and_politeness_find_nothing(language, query):
    assert await processor(language).search(query) == []


@pytest.mark.parametrize(
    ("language", "query", "name"),
    [
        ("ja", "会議室を予約します", "book_room"), ("ja", "会議室の予約をお願いします", "book_room"),
        ("ja", "この文章を英語に翻訳していただけますか", "translate"), ("ja", "翻訳", "translate"),
        ("ja", "明日の天気を教えてください", "weather"),
        ("ko", "회의실 예약해 주세요", "book_room"), ("ko", "회의실을 예약하고 싶어요", "book_room"),
        ("ko", "문서 번역", "translate"), ("ko", "내일 날씨 알려줘", "weather"),
        ("th", "ช่วยจองห้องประชุมหน่อยค่ะ", "book_room"),
        ("zh", "请帮我翻译这篇文章", "translate"),
    ],
)  # fmt: skip
async def test_words_in_common_find_their_tool(language, query, name):
    found = await processor(language).search(query)
    assert [hit.name for hit in found][:1] == [name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("会議室を予約します", ["会議", "議室", "予約"]),
        ("メールを送る", ["メー", "ール", "送"]),
        ("メール送信", ["メー", "ール", "ル送", "送信"]),
        ("りんご", ["りん", "んご"]),
        ("りんごを買う", ["りん", "んご", "買"]),
        ("GitHubのissueを作成", ["github", "git", "hub", "issu", "作成"]),
        ("회의실을 예약했습니다", ["회의", "의실", "예약"]),
        ("사용자에게 메일을 보내기", ["사용", "용자", "메일", "보내", "내기"]),
        ("预订会议室", ["预订", "订会", "会议", "议室"]),
    ],
)
def test_terms(text, expected):
    assert sorted(terms(text)) == sorted(expected)
