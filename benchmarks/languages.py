"""Questions in nine scripts without a chat model: those that the files answer, and those that they do not.

usage: .venv/bin/python benchmarks/languages.py [--model all-MiniLM-L6-v2|multilingual-e5-small]
Each script has one short text; a question about it is right where the answer has its figure, and about anything else where it is refused.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from citewell.client import connect
from citewell.settings import load_settings

TEXTS = {
    "th": "สระว่ายน้ำเปิดเวลา 07:00 น. ทุกวัน ค่าเข้าสำหรับผู้ใหญ่คือ 85 บาท และเด็กเข้าฟรี น้ำในสระถูกเปลี่ยนทุกเดือนมีนาคม",
    "ko": "도서관은 토요일에 16시에 문을 닫습니다. 회원 카드 발급 비용은 5000원입니다. 책은 한 번에 12권까지 빌릴 수 있습니다.",
    "he": "האוטובוס לנמל יוצא כל 25 דקות. מחיר הכרטיס הוא 8 שקלים. נהגים מתחלפים בתחנה המרכזית.",
    "hi": "स्कूल की छुट्टियाँ 14 मई से शुरू होती हैं। हर कक्षा में 32 छात्र हैं। पुस्तकालय दूसरी मंज़िल पर है।",
    "ar": "يفتح المتحف أبوابه الساعة 10 صباحا. سعر تذكرة الدخول 45 ريالا. بني المتحف عام 1962 بجانب النهر.",
    "ru": "Аренда зала стоит 4200 рублей в час. Зал вмещает 180 человек. Ключи выдаёт дежурный на первом этаже.",
    "ka": "ბანაკი იწყება 9 ივლისს. მონაწილეობის საფასურია 350 ლარი. ბანაკში 60 ბავშვი იქნება.",
    "zh": "冷库的温度保持在零下18度。仓库面积为2600平方米。每天有7辆卡车来装货。",
    "ja": "駐車場の料金は1時間300円です。満車のときは北側の第2駐車場を使ってください。収容台数は140台です。",
}
ANSWERED = {
    "th": (("ค่าเข้าสำหรับผู้ใหญ่เท่าไร", "85"), ("สระว่ายน้ำเปิดกี่โมง", "07:00")),
    "ko": (("도서관은 토요일 몇 시에 문을 닫나요?", "16"), ("책은 한 번에 몇 권까지 빌릴 수 있나요?", "12")),
    "he": (("מה מחיר הכרטיס?", "8"), ("כל כמה דקות יוצא האוטובוס לנמל?", "25")),
    "hi": (("स्कूल की छुट्टियाँ कब शुरू होती हैं?", "14"), ("हर कक्षा में कितने छात्र हैं?", "32")),
    "ar": (("كم سعر تذكرة الدخول؟", "45"), ("متى بني المتحف؟", "1962")),
    "ru": (("Сколько стоит аренда зала?", "4200"), ("Сколько человек вмещает зал?", "180")),
    "ka": (("როდის იწყება ბანაკი?", "9"), ("რა ღირს მონაწილეობა?", "350")),
    "zh": (("仓库面积是多少？", "2600"), ("冷库的温度是多少？", "18")),
    "ja": (("駐車場の料金はいくらですか。", "300"), ("収容台数は何台ですか。", "140")),
}
UNRELATED = {
    "th": ("ใครเป็นผู้แต่งเพลงชาติฝรั่งเศส", "ภูเขาไฟลูกไหนสูงที่สุดในโลก", "เงินเดือนของผู้จัดการคือเท่าไร", "ต้องฉีดวัคซีนสุนัขเมื่อไร"),
    "ko": ("사장의 전화번호는 무엇인가요?", "달까지의 거리는 얼마인가요?", "누가 전구를 발명했나요?", "고양이 사료는 어디에서 파나요?"),
    "he": ("מי כתב את ההמנון הצרפתי?", "מה גובה הר האוורסט?", "כמה ימי חופשה מגיעים לעובד?", "מהו מספר הטלפון של הרופא?"),
    "hi": ("फ़्रांस की राजधानी क्या है?", "कर्मचारी का वेतन कितना है?", "बिजली का आविष्कार किसने किया?", "कुत्ते को टीका कब लगता है?"),
    "ar": ("من كتب رواية البؤساء؟", "ما هو راتب المدير؟", "كم يبعد القمر عن الأرض؟", "متى يجب تطعيم القطط؟"),
    "ru": ("Кто написал «Войну и мир»?", "Какая зарплата у бухгалтера?", "Как вылечить простуду у кошки?", "Когда подписали договор поставки?"),
    "ka": ("ვინ დაწერა ვეფხისტყაოსანი?", "რა არის დირექტორის ხელფასი?", "რამდენია მთვარემდე მანძილი?"),
    "zh": ("谁写了《红楼梦》？", "经理的工资是多少？", "猫什么时候打疫苗？", "合同是什么时候签的？"),
    "ja": ("源氏物語を書いたのは誰ですか。", "社長の給料はいくらですか。", "猫のワクチンはいつ打ちますか。"),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="multilingual-e5-small")
    asyncio.run(measure(parser.parse_args().model))


async def measure(model: str) -> None:
    """Prints what was not as it should be, and the counts."""
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as folder:
        async with connect(load_settings(data=Path(folder), workers=0, embedding_model=model)) as client:
            records = [{"id": language, "text": text} for language, text in TEXTS.items()]
            (await client.post("/records", json={"records": records})).raise_for_status()
            started, right, refused = time.perf_counter(), 0, 0
            for language, asked in ANSWERED.items():
                for question, figure in asked:
                    said = (await client.post("/chat", json={"message": question})).json()
                    is_right = said["answered"] and figure in said["answer"]
                    right += is_right
                    if not is_right:
                        print(f"not answered, {language}: {question}: {said['answer'][:90]}", flush=True)
            for language, questions in UNRELATED.items():
                for question in questions:
                    said = (await client.post("/chat", json={"message": question})).json()
                    refused += not said["answered"]
                    if said["answered"]:
                        print(f"not refused, {language}: {question}: {said['answer'][:90]}", flush=True)
    asked, unrelated = sum(map(len, ANSWERED.values())), sum(map(len, UNRELATED.values()))
    seconds = (time.perf_counter() - started) / (asked + unrelated)
    print(f"{model}: {right} of {asked} answered, {refused} of {unrelated} refused, {seconds:.2f} s a question")


if __name__ == "__main__":
    main()
