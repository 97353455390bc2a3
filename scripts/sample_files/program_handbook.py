"""`Program Handbook.pdf`: nine pages; the onboarding steps stand on pages 2, 5 and 7."""

from __future__ import annotations

from pathlib import Path

from reportlab.platypus import Flowable

from sample_files import pdf_layout as pdf
from sample_files.figures import COMPANY


def write(path: Path) -> None:
    pages = [
        _welcome(), _onboarding_start(), _officers_week(), _groups(), _onboarding_training(), _sessions(),
        _onboarding_signing(), _questions(), _words(),
    ]  # fmt: skip
    pdf.write_pages(path, "Program Handbook", "How borrowers join, learn, borrow and stay in touch", pages)


def _welcome() -> list[Flowable]:
    return [
        *pdf.title("Program Handbook", f"{COMPANY} · For borrowers, loan officers and trainers · 2025 edition"),
        pdf.heading("Welcome"),
        *pdf.text(
            """Asanka Credit began with eleven traders in one lane of an Accra market and a notebook. Today 312 people borrow
            from us in three cities. The asanka is the clay bowl in which every kitchen grinds its pepper: plain, strong,
            and used every day. We want our loans to be like that.""",
            """This handbook describes the program around the loan: how a person joins, what she learns before she
            borrows, how groups meet, and what happens in a loan officer's week. The rules about money itself are in the
            Loan Policy; when in doubt, the policy decides.""",
        ),
        pdf.subheading("How to read this handbook"),
        pdf.table(
            [
                ["If you are…", "Begin with"],
                ["thinking of joining", "Page 2, where onboarding starts, then pages 5 and 7"],
                ["a member of a group", "Page 4, on group meetings"],
                ["a loan officer", "Page 3, on your week, and page 6, on running a session"],
                ["looking for one answer", "Page 8, questions we hear every week"],
            ],
            [52, 118],
        ),
        pdf.subheading("The program in one paragraph"),
        *pdf.text(
            """A new member registers, is visited, and chooses whether to borrow alone or in a group. She attends two
            short sessions, one on money basics and one on what a loan costs. Then she signs, receives the money in her
            own wallet, and is visited once within three weeks. From registration to payout, onboarding takes about two
            weeks; the fastest we have done it is six days and nobody should promise less."""
        ),
    ]


def _onboarding_start() -> list[Flowable]:
    return [
        pdf.heading("Onboarding, part one: getting to know each other"),
        *pdf.text("""Onboarding has six steps. The first two happen in the first week."""),
        pdf.subheading("Step 1: Register at a branch or in the market"),
        *pdf.text(
            """Bring your Ghana Card and the phone with your mobile money wallet. A loan officer fills in the registration
            form with you and reads every answer back. It takes about twenty minutes. You sign nothing that obliges you
            to borrow, and registering costs nothing.""",
        ),
        pdf.bullets(
            "Your name, birth date and Ghana Card number, checked against the card while you hold it.",
            "Your wallet number; we send one cedi to it, so that both of us know it is right.",
            "What you sell or make, where, and since when.",
            "The language in which you want to speak with us.",
        ),
        pdf.subheading("Step 2: Receive a visit at your place of business"),
        *pdf.text(
            """Within four working days your loan officer comes to your stall, shop or kitchen, at an hour that you
            choose. She looks at your stock, asks what an ordinary week brings in and what a bad week does, and meets one
            neighbour who knows your trade. She writes down two figures: earnings in an ordinary week, and earnings in
            the worst month of the year.""",
            """At the end of the visit you decide together whether an individual loan or a group loan suits you. If
            neither does, the officer says so. About one visit in seven ends that way, and that is a good result: a loan
            that cannot be repaid helps nobody.""",
        ),
        pdf.note(
            """<b>For officers.</b> Never visit unannounced, never photograph people, and never discuss one member's
            figures with another. If a customer comes, step aside: trade goes first."""
        ),
        *pdf.text("""Onboarding continues on page 5 with the two training sessions."""),
    ]


def _officers_week() -> list[Flowable]:
    return [
        pdf.heading("A loan officer's week"),
        *pdf.text(
            """An officer looks after at most 75 borrowers. Above that, visits become shorter and lateness rises; we
            measured it twice and hired both times. A week has a shape, so that borrowers know when to find you.""",
        ),
        pdf.table(
            [
                ["Day", "Morning", "Afternoon"],
                ["Monday", "Branch meeting; list of late instalments", "Calls to members 4 to 7 days late"],
                ["Tuesday", "Group meetings", "Visits to new applicants"],
                ["Wednesday", "Credit committee files; decisions", "Telling applicants the decision, in person"],
                ["Thursday", "Group meetings", "Visits within three weeks of payout"],
                ["Friday", "Training sessions at the branch", "Notes, receipts, plan for next week"],
            ],
            [28, 70, 72],
        ),
        pdf.subheading("Notes that help the next person"),
        *pdf.text(
            """Write notes the same day. Say what you saw and heard, not what you think of it. "Two of four shelves empty,
            says supplier raised prices on Monday" helps; "not serious" does not. A member may read her notes at any
            time, so write nothing that you would not say to her face.""",
        ),
        pdf.subheading("Safety"),
        pdf.bullets(
            "You carry no cash. If a member offers cash, walk with her to the branch or to a mobile money agent.",
            "You share your route with the branch each morning and answer the noon message.",
            "You leave when you feel unsafe, and nobody asks you to justify it.",
        ),
        pdf.subheading("How your work is judged"),
        *pdf.text(
            """By three things, in this order: members who say they were treated with respect, in a call made by someone
            from another branch; instalments paid on time; and notes that are complete. The number of new loans is not
            among them. An officer who is paid for selling loans will sell loans."""
        ),
    ]


def _groups() -> list[Flowable]:
    return [
        pdf.heading("Groups and their meetings"),
        *pdf.text(
            """A group has five to ten members who trade near each other and trust each other's word. It gives itself a
            name, chooses a chair and a treasurer for six months, and meets every week for no longer than 45 minutes. The
            loan officer attends every second meeting and listens more than she speaks.""",
        ),
        pdf.subheading("What a meeting looks like"),
        pdf.numbered(
            "Greetings, and news of the market: prices, thefts, closures, good suppliers. Ten minutes.",
            "Each member says whether this week's instalment is paid. Nobody has to say why not. Five minutes.",
            "One topic, chosen the week before: pricing, spoilage, credit to customers, a child's school start. Twenty minutes.",
            "Next week's topic and place. Five minutes.",
        ),
        pdf.subheading("What a group is for"),
        *pdf.text(
            """Members do not pay for one another. What a group gives is attention: someone notices when a stall stays
            closed for three days. In 2025, of 41 members who fell behind in a group, 33 were back on schedule within a
            month. Of 38 individual borrowers who fell behind, 22 were.""",
        ),
        pdf.note(
            """<b>Leaving a group.</b> A member may leave when her loan is repaid. A group may ask a member to leave only
            by a vote of two thirds, with the officer present, and never because of a late instalment alone."""
        ),
        pdf.subheading("When two members quarrel"),
        *pdf.text(
            """The chair hears both. If that fails, the officer does. If that fails, the group may split, and each part
            may continue if it still has five members. Loans continue unchanged in every case."""
        ),
    ]


def _onboarding_training() -> list[Flowable]:
    return [
        pdf.heading("Onboarding, part two: two sessions"),
        *pdf.text(
            """Steps 3 and 4 of onboarding happen in the second week, on two different days. Both sessions are free. We pay
            the transport of anyone who comes from more than five kilometres away, and children are welcome.""",
        ),
        pdf.subheading("Step 3: Attend the money basics session"),
        *pdf.text(
            """Ninety minutes, at most twelve people, in Twi, Ga, Ewe, Hausa or English. Using beans and three bowls, every
            participant lays out an ordinary week: what comes in, what goes back into stock, what the household needs. The
            bowl that is left is what an instalment can come from. Nobody has to show her figures to the others.""",
        ),
        pdf.bullets(
            "Telling the business's money from the household's.",
            "Writing down sales in a way that takes two minutes a day.",
            "What to do first when a week goes badly.",
        ),
        pdf.subheading("Step 4: Attend the session on what a loan costs"),
        *pdf.text(
            """One hour. The trainer works through a loan of GHS 4,000 over 16 weeks on the board: the fee, what arrives in
            the wallet, each weekly instalment, the total in cedis. Then every participant works through the amount that
            she has in mind. About a third lower it at this point, which is what the session is for.""",
            """At the end there is a short conversation, not an exam: the participant explains to the trainer what the loan
            will cost and what happens when an instalment is late. Whoever cannot explain it yet comes back the week
            after. Nobody is turned away for this.""",
        ),
        pdf.table(
            [
                ["Branch", "Money basics", "What a loan costs", "Languages"],
                ["Accra", "Friday, 9:00", "Friday, 14:00", "Twi, Ga, English, Hausa"],
                ["Tema", "Friday, 9:00", "Thursday, 16:00", "Ga, Ewe, Twi, English"],
                ["Kumasi", "Tuesday, 9:00", "Friday, 10:00", "Twi, Hausa, English"],
            ],
            [28, 40, 46, 56],
        ),
        *pdf.text("""Onboarding ends with signing and payout: see page 7."""),
    ]


def _sessions() -> list[Flowable]:
    return [
        pdf.heading("For trainers: running a good session"),
        *pdf.text(
            """The people in the room run businesses that survive on margins most managers never see. They do not need to
            be taught to be careful with money. What a session adds is a way to see a week at a glance, and words for
            things that everyone already half knows.""",
        ),
        pdf.subheading("Before"),
        pdf.bullets(
            "Call every participant the day before and ask which hour suits; move the session if most prefer it.",
            "Prepare three bowls and 200 beans per person, a board, and water. No projector.",
            "Know the price of tomatoes, fish and cloth that week. You will be asked, and it earns you the first ten minutes.",
        ),
        pdf.subheading("During"),
        pdf.bullets(
            "Begin with a story that ends badly for a lender, not for a borrower.",
            "Let the fastest finish early and help a neighbour; do not fill the silence.",
            "Ask “What would you do?” before you say what others did.",
            "Stop on time. They have stalls to open.",
        ),
        pdf.subheading("After"),
        *pdf.text(
            """Write one line for each participant: what she wants to do, and what she was unsure of. The loan officer reads
            it before signing. Once a month trainers of all branches meet and each brings one moment that went wrong.""",
        ),
        pdf.table(
            [
                ["Measured in 2025", "Value"],
                ["Sessions held", "118"],
                ["Participants", "604"],
                ["Finished both sessions", "91%"],
                ["Lowered the amount they asked for", "34%"],
                ["Said “I could explain this to my sister”", "87%"],
            ],
            [110, 60],
        ),
    ]


def _onboarding_signing() -> list[Flowable]:
    return [
        pdf.heading("Onboarding, part three: signing and the first weeks"),
        *pdf.text(
            """The last two steps of onboarding turn a decision into money in your wallet, and check that it helped."""
        ),
        pdf.subheading("Step 5: Sign the agreement and receive the money"),
        *pdf.text(
            """When the decision is positive, you come to the branch with your guarantor or your group. The officer reads the
            agreement aloud in the language you chose, names the whole cost in cedis, and asks you to say it back. You
            choose the weekday on which you will pay. You sign or give a thumbprint and take a copy home.""",
            """The money arrives in your own wallet within one working day, less the processing fee. We never pay out in
            cash and never to another person's wallet, not even a husband's or a mother's.""",
        ),
        pdf.note(
            """<b>You may change your mind.</b> Return the money within 72 hours of payout and you owe nothing: no interest,
            and the processing fee is paid back."""
        ),
        pdf.subheading("Step 6: Welcome visit within three weeks"),
        *pdf.text(
            """Your loan officer visits you once in the first three weeks. She asks what the money bought, whether the weekly
            day still suits, and whether anything in the agreement is unclear now that it is real. You may move your
            weekday once, free of charge. With this visit onboarding is complete.""",
        ),
        pdf.subheading("Checklist for officers"),
        pdf.table(
            [
                ["Step", "Done when", "Page"],
                ["1 Register", "One-cedi transfer confirmed by the member", "2"],
                ["2 Visit", "Both weekly figures written down", "2"],
                ["3 Money basics", "Trainer's line entered", "5"],
                ["4 What a loan costs", "Member explained the cost in her own words", "5"],
                ["5 Sign and receive", "Payout message received by the member", "7"],
                ["6 Welcome visit", "Visit note written, weekday confirmed", "7"],
            ],
            [46, 104, 20],
        ),
    ]


def _questions() -> list[Flowable]:
    answers = [
        (
            "Can I get a loan without a group?",
            "Yes. You need one guarantor, who may not guarantee anyone else at the same time. See section 3 of the Loan Policy.",
        ),
        (
            "My phone was stolen. What happens to my payments?",
            """Call the free line at once; we block payouts to the old number. You may pay at a branch counter until your
            SIM is replaced. No late fee runs for seven days.""",
        ),
        (
            "I want to pay everything back now. What does it cost?",
            """Only what you still owe and the interest up to today. There is no fee for repaying early. Ask for the figure
            at the branch or send BALANCE to our short number.""",
        ),
        (
            "My sister wants to use part of my loan. May she?",
            """The money is meant for the business in your application. If both of you trade, let her register too; she
            needs no invitation.""",
        ),
        (
            "I travel for funerals and harvest. Can I pay two weeks at once?",
            "Yes, pay before you go and tell your officer to keep it for the coming week. Otherwise it shortens the loan.",
        ),
        (
            "Somebody says he is from Asanka Credit and wants a fee on his phone. Is that right?",
            """No. Nobody of ours asks for money outside the merchant number printed on your agreement. Do not pay, and call
            the free line.""",
        ),
        (
            "Why was I offered less than I asked for?",
            """Because the instalment would have been more than 30% of an ordinary week. Your officer shows you the
            calculation. First loans also have a ceiling, which the Loan Policy sets.""",
        ),
    ]
    page: list[Flowable] = [pdf.heading("Questions we hear every week")]
    for question, answer in answers:
        page += [pdf.subheading(question), *pdf.text(answer)]
    return page


def _words() -> list[Flowable]:
    return [
        pdf.heading("Words we use"),
        pdf.table(
            [
                ["Word", "What we mean"],
                ["Borrower", "A person with a loan that is not yet repaid"],
                ["Member", "Anyone who has registered, whether or not she has a loan"],
                ["Instalment", "The part of a loan, with interest, that is due in one week"],
                ["Declining balance", "Interest is counted on what is still owed, so it becomes less each week"],
                ["Guarantor", "A person who may be asked for up to half of what is owed after 60 days"],
                ["Overdue", "An instalment has not arrived three days after it was due"],
                [
                    "Portfolio at risk",
                    "What is still owed on loans that are more than 30 days late, as a share of all that is owed",
                ],
                ["Ordinary week", "What the business earned in a week without feast, fair, illness or rain"],
            ],
            [42, 128],
        ),
        pdf.heading("Where to find us"),
        pdf.table(
            [
                ["Branch", "Where", "Open"],
                ["Accra", "Second floor above the bead hall, Makola side", "Monday to Friday, 8:00 to 17:00"],
                ["Tema", "Community 1, behind the main market", "Monday to Saturday, 8:00 to 16:00"],
                ["Kumasi", "Opposite the lorry park, Kejetia side", "Monday to Friday, 8:00 to 17:00"],
            ],
            [28, 80, 62],
        ),
        *pdf.text(
            """This handbook is rewritten every January from what members and officers tell us. If a page is unclear, write
            on it and hand it to any of us; that is how half of these pages came about."""
        ),
        pdf.note("""<b>Write to us:</b> handbook@asanka-credit.example"""),
    ]
