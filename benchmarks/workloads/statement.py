"""One large bank statement: a header and as many entries as make up the size asked for."""

from pathlib import Path
from random import Random

from benchmarks.workloads.words import WORDS

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:'
    'camt.053.001.08">\n<BkToCstmrStmt><GrpHdr><MsgId>M-1</MsgId><CreDtTm>2024-04-17T06:00:00'
    "</CreDtTm></GrpHdr>\n<Stmt><Id>S-1</Id><Acct><Id><IBAN>DE00123456780000000001</IBAN></Id>"
    "</Acct>\n"
)
_ENTRY = (
    '<Ntry><NtryRef>{number}</NtryRef><Amt Ccy="EUR">{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd>'
    "<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2024-04-16</Dt></BookgDt><ValDt><Dt>2024-04-16</Dt>"
    "</ValDt><AcctSvcrRef>R{number}</AcctSvcrRef>\n<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd>"
    "<SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs><EndToEndId>"
    "E{number}</EndToEndId></Refs><RltdPties><Dbtr><Pty><Nm>{debtor}</Nm></Pty></Dbtr><DbtrAcct>"
    "<Id><IBAN>DE{account:020}</IBAN></Id></DbtrAcct><Cdtr><Pty><Nm>{creditor}</Nm></Pty></Cdtr>"
    "</RltdPties>\n<RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>\n"
)
_FOOT = "</Stmt></BkToCstmrStmt></Document>\n"


def write(path: Path, size_bytes: int, seed: int = 1) -> int:
    """Write a statement of about this size, unless it is there; return the number of entries."""
    count_path = path.with_suffix(".count")
    if path.exists() and count_path.exists():
        return int(count_path.read_text("utf-8"))
    random = Random(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [" ".join(random.choices(WORDS, k=random.randint(8, 40))) for _ in range(1000)]
    number = written = 0
    with path.open("w", encoding="utf-8", buffering=1 << 20) as file:
        written += file.write(_HEAD)
        while written < size_bytes:
            written += file.write(_entry(random, number, texts))
            number += 1
        file.write(_FOOT)
    count_path.write_text(str(number), "utf-8")
    return number


def _entry(random: Random, number: int, texts: list[str]) -> str:
    draw = random.getrandbits(40)
    return _ENTRY.format(
        number=number,
        amount=f"{draw % 10_000_000 / 100:.2f}",
        side="CRDT" if draw & 1 else "DBIT",
        debtor=texts[draw % 997][:24],
        creditor=texts[draw % 991][:24],
        account=draw,
        text=texts[draw % 1000],
    )
