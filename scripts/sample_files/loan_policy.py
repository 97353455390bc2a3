"""`Loan Policy.pdf`: seven pages; the limit for first-time borrowers stands on page 3."""

from __future__ import annotations

from pathlib import Path

from reportlab.platypus import Flowable

from sample_files import pdf_layout as pdf
from sample_files.figures import COMPANY, FIRST_LOAN_LIMIT, FOURTH_LOAN_LIMIT, SECOND_LOAN_LIMIT


def write(path: Path) -> None:
    pages = [_purpose(), _eligibility(), _limits(), _pricing(), _approval(), _late_payment(), _rights()]
    pdf.write_pages(
        path, "Loan Policy", "Who may borrow, how much, at what price, and what happens when it goes wrong", pages
    )


def _purpose() -> list[Flowable]:
    return [
        *pdf.title("Loan Policy", f"{COMPANY} · Version 3 · In force from 1 February 2025"),
        pdf.heading("1. Why this policy exists"),
        *pdf.text(
            """We lend small amounts to people who trade in markets, cook, sew, repair and process food. Most of our
            borrowers have never had a bank loan. They do not need a long document; they need to know how much they can
            get, what it costs, and what we will and will not do when a week goes badly.""",
            """This policy answers those questions in one place. Loan officers follow it, the credit committee decides
            by it, and any borrower may read it at a branch or ask for a copy. Where a loan agreement and this policy
            disagree, whichever is better for the borrower applies.""",
        ),
        pdf.subheading("What we promise"),
        pdf.bullets(
            "We say the full cost in cedis before anyone signs, never only a percentage.",
            "We decide within five working days of a complete application, and we give the reason when we say no.",
            "We never take goods, phones, identity cards or mobile money PINs as security.",
            "We never call a borrower's family, customers or landlord about a debt.",
        ),
        pdf.subheading("What we ask in return"),
        pdf.bullets(
            "The money goes into the business named in the application.",
            "Instalments are paid weekly, on the agreed day, through mobile money or at a branch.",
            "When trouble is coming, tell the loan officer before the instalment is missed. We can help early; late is harder.",
        ),
        pdf.table(
            [
                ["Version", "In force from", "What changed"],
                ["1", "1 March 2023", "First policy, Accra branch only"],
                ["2", "15 January 2024", "Group loans added; late fee capped at 10%"],
                ["3", "1 February 2025", "First-loan limit lowered from GHS 6,500; collateral of any kind forbidden"],
            ],
            [22, 36, 112],
        ),
    ]


def _eligibility() -> list[Flowable]:
    return [
        pdf.heading("2. Who may borrow"),
        *pdf.text("""A person may apply when all of the following are true on the day of the application."""),
        pdf.numbered(
            "They are at least 18 years old and hold a valid Ghana Card.",
            "They have run the same business for at least six months, at a place that a loan officer can visit.",
            "They live or trade within 25 kilometres of one of our branches in Accra, Tema or Kumasi.",
            "They have a mobile money wallet in their own name.",
            "They have finished onboarding as the Program Handbook describes it, including the money basics session.",
        ),
        pdf.subheading("Who may not"),
        *pdf.text(
            """We do not lend to employees or their spouses, to anyone who owes another lender an instalment that is
            more than 30 days late, or for the purchase of alcohol, tobacco, lottery stakes, or land. A person whose loan
            we have written off may apply again two years after the written-off amount has been repaid.""",
        ),
        pdf.heading("3. Individual and group loans"),
        *pdf.text(
            """An individual loan is signed by one borrower and one guarantor. The guarantor must be a trader or a
            salaried worker known to the borrower for at least one year, and may guarantee only one loan at a time.
            A guarantor is asked to pay only after the borrower is 60 days late, and never more than half of what is
            still owed.""",
            """A group loan is taken by five to ten borrowers who know each other and meet every week. Each member signs
            for her or his own part. Members do not pay for one another, but no member of a group may take a new loan
            while another member is more than 30 days late. We found that this keeps the group talking without turning
            neighbours into debt collectors.""",
        ),
        pdf.note(
            """<b>Savings are not a condition.</b> Some lenders keep ten or twenty per cent of the loan as compulsory
            savings. We do not: it raises the true price of the loan and the borrower cannot see it."""
        ),
        pdf.heading("4. What the loan may be used for"),
        *pdf.text(
            """Stock, raw materials, tools, a stall or its repair, market fees, and transport for goods. School fees and
            medical bills are allowed for returning borrowers up to one quarter of the loan. The loan officer visits
            within three weeks of payout to see what was bought. The visit is a conversation, not an inspection."""
        ),
    ]


def _limits() -> list[Flowable]:
    return [
        pdf.heading("5. How much a borrower may receive"),
        pdf.subheading("5.1 First-time borrowers"),
        *pdf.text(
            f"""A first-time borrower may receive at most <b>GHS {FIRST_LOAN_LIMIT:,}</b>. This is a ceiling, not an
            offer: the weekly instalment must not be more than 30% of what the business earns in an ordinary week after
            buying stock. The credit committee cannot approve more for a first loan, whatever the guarantor or the size
            of the business.""",
            """We chose this ceiling from our own book. Among first loans above GHS 5,000 made in 2023, one in six was
            late by more than 30 days; below it, one in twenty-two.""",
        ),
        pdf.subheading("5.2 Returning borrowers"),
        *pdf.text(
            f"""A borrower who has repaid one loan in full, with no instalment more than 14 days late, may receive at
            most GHS {SECOND_LOAN_LIMIT:,}. After three loans repaid on the same terms the ceiling is
            GHS {FOURTH_LOAN_LIMIT:,}. No new loan may be more than two and a half times the last one, so that a
            business grows into its debt and not the other way round.""",
        ),
        pdf.table(
            [
                ["Borrower", "Most we lend (GHS)", "Longest term", "Decided by"],
                ["First loan", f"{FIRST_LOAN_LIMIT:,}", "24 weeks", "Branch manager"],
                ["Second and third loan", f"{SECOND_LOAN_LIMIT:,}", "24 weeks", "Branch manager"],
                ["Fourth loan and later", f"{FOURTH_LOAN_LIMIT:,}", "36 weeks", "Credit committee"],
                ["Group loan, per member", "4,000", "16 weeks", "Branch manager"],
                ["Emergency top-up", "1,000", "8 weeks", "Loan officer"],
            ],
            [52, 42, 34, 42],
        ),
        pdf.subheading("5.3 Emergency top-up"),
        *pdf.text(
            """A borrower who is up to date may ask for a top-up of at most GHS 1,000 after fire, flood, theft or a
            hospital stay. It carries no interest and no fee. A borrower may have one top-up in twelve months.""",
        ),
        pdf.subheading("5.4 Smallest loan"),
        *pdf.text(
            """We do not lend less than GHS 500. Below that the visit costs more than the loan earns, and the borrower
            is usually better served by a savings group."""
        ),
    ]


def _pricing() -> list[Flowable]:
    return [
        pdf.heading("6. What a loan costs"),
        *pdf.text(
            """Interest is 2.5% per month, charged on what is still owed, not on the first amount. A borrower who pays
            early pays less. A processing fee of 2% is taken once, at payout. There is no insurance premium, no form fee,
            no fee for a statement, and no fee for closing a loan early.""",
        ),
        pdf.table(
            [
                ["Charge", "How much", "When"],
                ["Interest", "2.5% per month on the declining balance", "With each weekly instalment"],
                ["Processing fee", "2% of the loan", "Once, at payout"],
                ["Late fee", "1% of the late instalment per week, at most 10% of it", "After 3 days of grace"],
                ["Emergency top-up", "Nothing", "-"],
                ["Early repayment", "Nothing", "-"],
            ],
            [40, 82, 48],
        ),
        pdf.subheading("An example that officers must be able to explain"),
        *pdf.text(
            """A borrower receives a loan of GHS 4,000 for 16 weeks. GHS 80 is taken as the processing fee, so GHS 3,920
            arrives in her wallet. She repays GHS 250 of the loan every week. In the first week interest is about GHS 23;
            in the last it is under GHS 2. Over the 16 weeks she pays about GHS 196 of interest. The loan costs her
            GHS 276 in all, or seven pesewas for each cedi borrowed.""",
        ),
        pdf.heading("7. How instalments are paid"),
        *pdf.text(
            """Instalments are due weekly on the day the borrower chooses at signing. Payment is by mobile money to the
            branch's merchant number or in cash at a branch counter. Loan officers never accept cash in the market. Every
            payment is answered by a text message with the amount, the date and what is still owed.""",
            """A payment goes first to late fees, then to interest, then to the loan. If a borrower pays more than is
            due, the rest shortens the loan unless she asks for it to be kept for the next week.""",
        ),
        pdf.note(
            """<b>Public holidays.</b> When an instalment falls on a public holiday it is due on the next working day,
            and no late fee runs in between."""
        ),
    ]


def _approval() -> list[Flowable]:
    return [
        pdf.heading("8. From application to payout"),
        pdf.numbered(
            "<b>Application.</b> The loan officer fills in the form with the borrower at the place of business, and reads it back.",
            "<b>Visit.</b> The officer counts stock, asks about an ordinary week and a bad week, and writes down both.",
            "<b>Checks.</b> The branch queries the credit bureau and our own records, and calls the guarantor.",
            "<b>Decision.</b> The branch manager or the credit committee decides within five working days.",
            "<b>Signing.</b> The cost in cedis is read aloud in a language the borrower speaks. A signature or thumbprint follows.",
            "<b>Payout.</b> The money is sent to the borrower's own wallet within one working day of signing.",
        ),
        pdf.heading("9. How we decide"),
        *pdf.text(
            """Four questions are scored from 0 to 5. A first loan needs 12 points in all; a later one needs 10."""
        ),
        pdf.table(
            [
                ["Question", "What earns 5 points"],
                ["Does the business earn enough?", "The instalment is under 15% of an ordinary week's earnings"],
                ["How steady is it?", "Earnings in the worst month of the year still cover the instalment"],
                ["How has the borrower repaid before?", "Every instalment of the last loan on time"],
                ["What do neighbours in trade say?", "Two independent references, both without reservation"],
            ],
            [62, 108],
        ),
        *pdf.text(
            """The credit committee has three members: the head of lending, a branch manager from a different branch, and
            one outside member with experience in market trade. It meets every Wednesday. Two votes decide. A member who
            knows the applicant leaves the room.""",
            """Every refusal is written down with its reason, and the borrower is told what would change the answer. A
            refused applicant may apply again after 60 days, or at once when something important has changed.""",
        ),
        pdf.subheading("What never counts"),
        *pdf.text(
            """Sex, marital status, pregnancy, religion, ethnic group, language, political opinion, disability, and
            whether the applicant belongs to any association. An officer who writes such a thing on a form is retrained;
            an officer who decides by it is dismissed."""
        ),
    ]


def _late_payment() -> list[Flowable]:
    return [
        pdf.heading("10. When a payment is late"),
        *pdf.text(
            """A loan is <b>overdue</b> when an instalment has not arrived three days after it was due. What we do next
            depends on how long it lasts."""
        ),
        pdf.table(
            [
                ["Days late", "What we do", "Who"],
                ["1 to 3", "A friendly text message; no fee", "System"],
                ["4 to 7", "A call, to ask what happened", "Loan officer"],
                ["8 to 30", "A visit, and a written plan when one is needed", "Loan officer"],
                ["31 to 60", "A meeting at the branch; no new loan for this borrower or group", "Branch manager"],
                ["61 to 90", "The guarantor is told and may be asked for half of what is owed", "Branch manager"],
                ["Over 90", "Treated as lost in our books; we report to the credit bureau", "Credit committee"],
            ],
            [26, 108, 36],
        ),
        pdf.subheading("Hardship"),
        *pdf.text(
            """Illness, a death in the family, fire, flood, theft, the birth of a child, or the closure of a market are
            hardship. A borrower in hardship may pause instalments for up to four weeks, once per loan, or spread what is
            owed over up to twelve more weeks. No late fee runs during the pause. The branch manager decides within two
            working days and needs no proof for a pause of one week.""",
        ),
        pdf.subheading("What we never do"),
        pdf.bullets(
            "Visit before seven in the morning, after seven in the evening, or on a day of rest or mourning.",
            "Raise our voice, threaten, or speak of the debt where others can hear.",
            "Post names or photographs anywhere.",
            "Take goods, or lend to the same borrower so that an old loan looks repaid.",
        ),
        pdf.subheading("Writing off"),
        *pdf.text(
            """A loan that is 180 days late is written off in our accounts. The debt remains, but interest and fees stop.
            After two years without payment we forgive it and tell the borrower so in writing."""
        ),
    ]


def _rights() -> list[Flowable]:
    return [
        pdf.heading("11. What we keep about a borrower"),
        *pdf.text(
            """The application, the decision and its reason, the agreement, payments, and notes of visits. We keep them
            for six years after the last loan ends and then delete them. A borrower may read her file, have mistakes
            corrected, and receive a copy within ten working days, without charge.""",
            """We share a borrower's data with the credit bureau, as the law requires, and with nobody else. We do not
            read phone contacts, messages or locations, and our forms do not ask for them.""",
        ),
        pdf.heading("12. Complaints"),
        pdf.numbered(
            "Tell any member of staff, call the free line, or use the box at the branch. No form is needed.",
            "A person who was not involved answers within three working days.",
            "If the answer is not good enough, the head of lending reviews it within ten working days.",
            "If that is not good enough either, the borrower may go to the Bank of Ghana; we explain how.",
        ),
        *pdf.text(
            """Nobody is treated worse for complaining. Complaints are counted every month, by branch and by cause, and
            the board sees the count and the three that taught us most."""
        ),
        pdf.heading("13. Changing this policy"),
        *pdf.text(
            """The board approves changes. A change that makes a loan dearer or harder to get applies only to loans signed
            after it is in force. Branches are told two weeks before, and the change is explained at group meetings.""",
            """The board reviews the limits in section 5 every January against the share of loans that were more than 30
            days late in the year before.""",
        ),
        pdf.note(
            """<b>Questions about this policy?</b> Ask at your branch in Accra, Tema or Kumasi, or write to
            lending@asanka-credit.example."""
        ),
    ]
