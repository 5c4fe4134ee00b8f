"""The words that Passage gives to a text index: Qdrant's own engine finds the right passage by them."""

from collections.abc import Iterator

import pytest
import qdrant_edge
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.text_search import asked_words
from handler.config.payload_keys import RANKED_KEY
from handler.core.words import JOINTS, indexed_words
from passage.indexing.text_index import TextIndex
from unit.strategies import bounded

SIGNS = "~^`=<>|→←•·/\\:;&@!?%$§*+#,()[]{}\"'«»-—…\u00a0\u2009\u2013\u3000"
PASSAGES = (
    ("Status 404 means not found here.", "404"),
    ("Use port 8080 for the proxy.", "8080"),
    ("Python 3.11 is needed.", "3.11; Python 3.11"),
    ("Version 1.20.3 fixes it.", "1.20.3; v1.20.3"),
    ("A 503 page", "503"),
    ("Release 1.16 is old.", "1.16"),
    ("Release 1.160 is new.", "1.160"),
    ("Release 1.16.0 is out.", "1.16.0; V1.16.0"),
    ("Since v2.7.1 it is gone.", "2.7.1; v2.7.1"),
    ("It holds 28,500 points.", "28500; 28,500"),
    ("The parts 16 and 1, then 20 and 3, 7 and 2, of 28 and 500", "parts"),
    ("Call set_lantern_height(3) first.", "set_lantern_height; lantern height"),
    ("Call set_lantern_width(3) first.", "set_lantern_width"),
    ("LAMP_HOME=/opt/lamp", "LAMP_HOME; lamp_home"),
    ("The method __init__ builds it.", "__init__; init"),
    ("Open lamp.example.com now.", "lamp.example.com"),
    ("Returns Basket<Apple> or Pear|Plum.", "apple; Plum; Pear"),
    ("Open Settings→Privacy→Cookies.", "Privacy; cookies"),
    ("Run lamp>out.txt or lamp --colour=blue.", "colour; out.txt"),
    ("GET /items?page=2&sort=price_desc", "sort; price_desc"),
    ("void ignite(int\u00a0seconds)", "seconds"),
    ("Long\u2011life oil with a non\u2011breaking hyphen.", "long-life; long life"),
    ("The lan\u00adtern\u200bpost and a \ufefffilament\u2060s.", "lanternpost; filaments"),
    ("The binding for C++ has classes.", "C++"),
    ("The binding for C# is a package.", "c#; C# package"),
    ("Müller makes lamps in Zürich.", "muller; Zürich"),
    ("A naïve café owner.", "naive cafe"),
    ("The oﬃce desk.", "office"),
    ("The \uff21\uff30\uff29\uff19\uff11 of ﾗﾝﾌﾟ ｶﾞｲﾄﾞ, in other widths.", "api91; ランプ ガイド; ガイド"),
    ("ランプの設定ファイルを編集してください。データベース接続の手順です。", "設定; 接続; 編集"),
    ("時価総額の計算方法を説明します。第37章", "時価総額; \uff13\uff17章; 計算方法"),
    ("北京大学的图书馆有多少本书", "图书馆; 大学"),
    ("프로그램을 설치하는 방법을 설명합니다.", "설치; 프로그램; 설치가"),
    ("연결이 실패하면 오류가 표시됩니다.", "오류; 연결을"),
    ("Kubernetesのクラスタ名", "クラスタ; kubernetes"),
    ("วิธีการติดตั้งโปรแกรมบนเครื่อง", "ติดตั้ง; โปรแกรม"),
    ("วิธีการเปลี่ยนรหัสผ่าน", "รหัสผ่าน"),
    ("كَلِمَة السِّرِّ", "كلمة; السر"),
    ("Новая ёлка; ли\u0301ния.", "елка; ёлка; линия"),
    ("There is no cache, no request with an id, and a net.", "request"),
    ("Pass --no-cache once.", "--no-cache; no-cache"),
    ("The header X-Request-Id names a call of many that are made.", "X-Request-Id"),
    ("A library for .NET and for other things of that kind.", ".NET"),
    ("The file .env.local is read.", ".env.local"),
    ("It ended on 2026-03-14.", "2026-03-14"),
    ("It ended on 2026-03-15, the 14 was before.", "2026-03-15"),
    ("It waits 250 ms and takes 1.5 GB. Then 7 µs.", "250ms; 1.5GB; 7µs; 7 μs"),
    ("Use lamp::shine::deep in this place and in no other.", "lamp::shine::deep"),
    ("A lamp may shine deep. Use shift and ctrl and p.", "may shine"),
    ("The editor opens with Ctrl+Shift+P, in each of the windows.", "Ctrl+Shift+P; ctrl+shift+p"),
    ("It waits 75ms and takes 2.5GB.", "75 ms; 2.5 GB"),
    ("A zero\u200bwidth\u200bspanner.", "spanner; zerowidthspanner"),
)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[qdrant_edge.EdgeShard]:
    config = qdrant_edge.EdgeConfig(qdrant_edge.EdgeVectorParams(size=1, distance=qdrant_edge.Distance.Dot))
    shard = qdrant_edge.EdgeShard.create(str(tmp_path_factory.mktemp("words")), config)
    index = TextIndex(RANKED_KEY).for_edge()
    shard.update(qdrant_edge.UpdateOperation.create_field_index(RANKED_KEY, index))
    points = [qdrant_edge.Point(at, [1.0], {RANKED_KEY: indexed_words(text)}) for at, (text, _) in enumerate(PASSAGES)]
    shard.update(qdrant_edge.UpdateOperation.upsert_points(points))
    yield shard
    shard.close()


@pytest.mark.parametrize(
    ("question", "text"), [(question, text) for text, asked in PASSAGES for question in asked.split("; ")]
)
def test_question_finds_its_passage_first(shard: qdrant_edge.EdgeShard, question: str, text: str) -> None:
    asked = qdrant_edge.TextQuery(RANKED_KEY, asked_words(RANKED_KEY, question))
    found = shard.query(qdrant_edge.QueryRequest(limit=3, query=asked))
    assert [PASSAGES[int(str(point.id))][0] for point in found][:1] == [text]


@given(sign=st.sampled_from(SIGNS), before=st.from_regex(r"[a-z]{2,9}", fullmatch=True))
@bounded
def test_sign_between_two_words_separates_them(sign: str, before: str) -> None:
    """Qdrant splits at what is neither letter nor digit; nothing that is added may join the two."""
    words = indexed_words(f"{before}{sign}quartz")
    assert words.startswith(before)
    assert not words[len(before)].isalnum()
    assert words.endswith("quartz")


@given(run=st.text(st.sampled_from("設定接続ァーイルの한국어가々〇"), min_size=1, max_size=9))
@bounded
def test_unspaced_run_becomes_its_pairs(run: str) -> None:
    pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    assert indexed_words(f"a{run}b").split() == ["a", *pairs, "b"]


def test_question_to_a_foreign_index_goes_out_unchanged() -> None:
    assert asked_words("text", "設定を 1.16") == "設定を 1.16"
    assert asked_words("ranked_text_ja", "設定を") == " 設定 定を "


def test_joints_are_letters_that_stay() -> None:
    assert all(letter.isalpha() and indexed_words(letter) == letter for letter in JOINTS.values())
