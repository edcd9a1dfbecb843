"""Mail addresses, headers and messages, by `email`."""

from __future__ import annotations

from datetime import datetime
from email import message_from_string, policy
from email.header import decode_header, make_header
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, getaddresses, parseaddr, parsedate_to_datetime
from typing import Any


def parse_mail_address(text: str) -> dict[str, str]:
    """Split a mail address with a display name into name and address.

    Args:
        text: Such as "Ada Lovelace <ada@example.org>".
    """
    name, address = parseaddr(text)
    return {"name": name, "address": address}


def list_mail_recipients(header: str) -> list[dict[str, str]]:
    """Read all recipients of a To or Cc header.

    Args:
        header: Such as "Ada <ada@example.org>, bob@example.org".
    """
    return [{"name": name, "address": address} for name, address in getaddresses([header])]


def format_mail_address(name: str, address: str) -> str:
    """Write a display name and a mail address for a header, quoted where needed.

    Args:
        name: The display name.
        address: The mail address.
    """
    return str(Address(display_name=name, addr_spec=address))


def parse_mail_date(text: str) -> str:
    """Convert the date of a mail header (RFC 5322) to ISO 8601.

    Args:
        text: Such as "Sat, 28 Nov 2026 08:30:00 +0100".
    """
    return parsedate_to_datetime(text).isoformat()


def format_mail_date(moment: datetime) -> str:
    """Write a date and time as mail headers and HTTP do (RFC 5322).

    Args:
        moment: The moment, in ISO 8601 with an offset.
    """
    return format_datetime(moment)


def decode_mail_header(header: str) -> str:
    """Decode an encoded mail header such as =?utf-8?q?caf=C3=A9?=.

    Args:
        header: The header's value.
    """
    return str(make_header(decode_header(header)))


def parse_mail_message(message: str) -> dict[str, Any]:
    """Read a raw mail message: subject, sender, recipients, attachments and plain text body.

    Args:
        message: The message's source.
    """
    parsed = message_from_string(message, policy=policy.default)
    body = parsed.get_body(("plain",))
    return {
        "subject": parsed["subject"],
        "from": parsed["from"],
        "to": parsed["to"],
        "attachments": [part.get_filename() for part in parsed.iter_attachments()],
        "body": body.get_content().strip() if body else "",
    }


def compose_mail_message(sender: str, recipient: str, *, subject: str, body: str) -> str:
    """Compose the source of a plain text mail message; sends nothing.

    Args:
        sender: The sender's address.
        recipient: The recipient's address.
        subject: The subject.
        body: The text.
    """
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = sender, recipient, subject
    message.set_content(body)
    return message.as_string()
