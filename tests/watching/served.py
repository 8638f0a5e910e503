"""What a page that is served answers, to whatever is sent."""

from __future__ import annotations

import http.client
import json
import re
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


def answer_to(served, path="/", method="GET", headers: Any = ()):
    """The answer to one request, sent as it is: no path is made right, no header added but Host."""
    where = urlsplit(served.url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=20)
    given = dict(headers)
    connection.putrequest(method, path, skip_host="Host" in given, skip_accept_encoding=True)
    for name, value in given.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    told = {name.lower(): value for name, value in answer.getheaders()}
    found = Answer(answer.status, told, answer.read().decode())
    connection.close()
    return found


def page_of(served):
    return answer_to(served).text


def state_of(served):
    return json.loads(answer_to(served, "/state").text)


def element(page, name):
    """The text of an element, by its id."""
    found = re.search(rf'<(\w+)[^>]*\bid="{name}"[^>]*>(.*?)</\1>', page, re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", found[2])).strip()


def cells(page):
    """The cells of the table of windows, row by row."""
    part = page[page.index('id="windows-rows"') : page.index('id="batches-figure"')]
    found = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in part.split("<tr>")]
    return [row for row in found if row]
