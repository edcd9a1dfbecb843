"""Scripts without spaces, or with endings on every word: words in common count, politeness doesn't."""

from __future__ import annotations

import pytest

from tool_search_processor import Tool, ToolSearchProcessor
from tool_search_processor.search.text import WORD_CHARACTERS, is_stop_word, terms, words

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("จองห้องประชุม", ["จองห้อง", "ห้องป", "ประ", "ระชุม"]),
        ("พิซซ่า", ["พิซซ่า"]),
        ("ຈອງຫ້ອງ", ["ຈອງຫ້ອງ"]),
        ("ភីហ្សា", ["ភីហ្សា"]),
        ("အစည်းအဝေး", ["အစည်း", "စည်းအ", "အဝေး"]),
    ],
)
def test_terms_of_thai_lao_khmer_and_burmese_are_pairs_of_syllables(text, expected):
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("明日の午後に会議室を予約していただけますか", "明日 午後 会議室 予約"),
        ("田中さんにメールを送って", "田中 メール 送"),
        ("仕様書を山田様へ送信", "仕様書 山田 送信"),
        ("请帮我把照片上传到相册", "照片上传到相册"),
        ("查询目的地地址", "查询目的地地址"),
        ("請幫我翻譯這份文件好嗎", "翻譯 文件"),
        ("りんごとバナナの出来事", "りんご バナナ 出来事"),
        ("在庫確認", "在庫確認"),
        ("為替換算", "為替換算"),
        ("請求書作成", "請求書作成"),
        ("重置用户的密码", "重置用户 密码"),
        ("이 문서를 번역해 주시겠어요", "문서 번역"),
        ("문제가 있어요", "문제"),
        ("일정의 주문의 계정의 화상회의", "일정 주문 계정 화상회의"),
        ("고객님께 메일을 보냅니다", "고객 메일 보내"),
        ("회의 회의를 휴가 휴가를 결과는 경로로", "회의 회의 휴가 휴가 결과 경로"),
        ("ช่วยจองห้องประชุมให้หน่อยได้ไหมครับ", "จองห้องประชุม"),
        ("ใบแจ้งหนี้ของฉัน", "ใบแจ้งหนี้"),
        ("ກະລຸນາຊ່ວຍຈອງຫ້ອງປະຊຸມແດ່", "ຈອງຫ້ອງປະຊຸມ"),
        ("សូមបកប្រែអត្ថបទនេះផង", "បកប្រែអត្ថបទ"),
        ("ဒီစာသားကို ဘာသာပြန်ပေးပါ", "စာသား ဘာသာပြန်"),
        ("SlackでPDFを共有してください", "Slack PDF 共有"),
        ("ส่งPDFไปที่Slackให้หน่อย", "ส่ง PDF Slack"),
        ("把PDF发到Slack", "PDF 发到 Slack"),
    ],
)
def test_words_stand_between_particles_endings_and_politeness(text, expected):
    assert words(text) == expected.split()


@pytest.mark.parametrize("unit", ["ห้องประชุม", "会议室", "បន្ទប់ប្រជុំ", "회의실"])
def test_the_end_of_a_long_text_without_spaces_counts(unit):
    end = {"会议室": "披萨", "회의실": "피자"}.get(unit, unit)
    text = unit * WORD_CHARACTERS + end
    assert terms(text)[-1] == terms(end)[-1]
    assert all(len(word) <= WORD_CHARACTERS for word in words(text))


@pytest.mark.parametrize(
    "word",
    ["bitte", "könntest", "une", "où", "por", "podría", "пожалуйста", "мне", "فضلك", "أريد", "कृपया", "लिए"],
)
def test_politeness_in_other_languages_does_not_count(word):
    assert is_stop_word(words(word)[0])


@pytest.mark.parametrize("word", ["AI", "CI", "bin", "hat", "comment", "OS", "UBER"])
def test_words_with_a_meaning_in_english_count(word):
    assert not is_stop_word(word)


@pytest.mark.parametrize(
    ("one", "other"), [("खाता", "खातों"), ("पौधे", "पौधों"), ("الطقس", "طقس"), ("للعميل", "عميل")]
)
def test_number_and_article_do_not_matter(one, other):
    assert terms(one) == terms(other)
    assert terms("खाता") != terms("खाना")
