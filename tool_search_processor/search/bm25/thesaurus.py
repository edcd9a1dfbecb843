"""Words with the same meaning for a person who asks for a tool: delete and remove, mail and email.

Each line of a table is one *concept*. An index holds each word and its concepts, and a query asks for
both: "delete" finds a tool that says "remove", with a part of the weight of an exact match.
"""

from __future__ import annotations

from functools import cache

from tool_search_processor.search.text import stem

CONCEPT_SHARE = 0.45
"""The share of a word's weight in a query that goes to its concepts; the rest goes to the word itself."""

_VERBS = """
delete remove destroy erase drop purge discard clear wipe uninstall trash eliminate unset revoke rm del
create add new make generate build insert register produce compose construct craft
get fetch retrieve read show obtain view display return describe see access load pull give tell provide
list enumerate all every
update edit modify change alter patch revise adjust set replace amend rewrite
search find lookup query seek discover locate explore browse look hunt
send post deliver dispatch submit publish share forward transmit
run execute launch start invoke trigger begin perform
stop cancel abort terminate halt kill end close quit
schedule book reserve booking reservation appointment
buy purchase order checkout shop shopping
pay payment charge billing invoice
convert transform conversion transformation
translate translation language multilingual
calculate compute evaluate determine estimate calculation solve
compare comparison difference versus diff contrast
analyze analyse analysis examine inspect assess analytics insight
summarize summary summarise digest abstract overview gist brief
check verify validate validation confirm test ensure
monitor track watch observe tracking
count number total quantity amount many
copy duplicate clone replicate
move transfer migrate relocate
rename retitle
merge combine join concatenate unify
split divide separate
upload import attach
download export save
login signin authenticate auth authentication authorize credential logon
subscribe follow
unsubscribe unfollow
enable activate
disable deactivate
recommend recommendation suggest suggestion advice advise propose
rank ranking top best leaderboard trending popular hot
crawl scrape extract parse
draw plot chart graph visualize diagram render visualization
play listen stream
approve accept
reject decline deny refuse
assign allocate
comment reply respond answer
notify alert notification reminder remind
improve optimize enhance optimization improvement
predict forecast prediction projection
detect recognize identify detection recognition
explain explanation understand clarify
write author draft writing
learn study teach training practice
sign signature
"""

_NOUNS = """
mail email inbox mailbox gmail
message msg chat text sms conversation
repo repository
pr pull
db database
config configuration settings setting preference option
doc document documentation
dir directory folder
img image picture photo photograph pic
video clip youtube
movie film cinema
song track music tune audio playlist
artist singer musician band
actor actress cast director crew
tv television show series episode
user account member profile customer
people person human individual
company business organization organisation org enterprise firm corporation
job employment career vacancy position hiring
resume cv
car vehicle automobile auto truck suv
flight plane airline airport aircraft
train railway rail metro subway
hotel accommodation lodging stay resort hostel
trip travel journey tour vacation itinerary tourism holiday destination tourist
restaurant dining eat meal cafe food
recipe cook cooking dish cuisine ingredient
weather forecast temperature rain climate meteorological
map location place address geographic coordinate geocode latitude longitude
direction route navigation
stock share equity ticker
invest investment portfolio fund asset finance financial
crypto cryptocurrency bitcoin coin blockchain ethereum
currency exchange money forex
price cost fee rate pricing cheap expensive
product item goods
news article headline press
book literature novel
paper research academic scholar publication study journal scientific
website web site page webpage internet online
url link href
error bug issue problem defect incident ticket
task todo
calendar event meeting appointment schedule agenda
log history
spreadsheet excel sheet
presentation slide powerpoint pptx
id identifier
tag label category
code program script programming source
server host machine instance
k8s kubernetes
game gaming gameplay
sport football soccer basketball
health medical disease symptom doctor patient healthcare clinical
medicine drug medication pharmaceutical
fitness exercise workout
diet nutrition calorie
house home property estate apartment housing rent rental realtor
school course class education learning lesson curriculum
joke humor funny meme
space astronomy planet nasa
horoscope astrology zodiac
law legal lawsuit court attorney
discount coupon deal promo offer promotion
shipping delivery package parcel shipment
phone mobile cellphone telephone smartphone
color colour
app application
env environment
lang language
num number
max maximum largest highest
min minimum smallest lowest
avg average mean
info information detail metadata
stat statistics
admin administrator
permission role access
dept department
tz timezone
tx transaction
fast quick quickly speed
big large huge
small little tiny
new latest recent newest current
old previous past
nearby near nearest closest
"""

_MARK = "§"  # no term begins with it


@cache
def _table() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for number, line in enumerate((_VERBS + _NOUNS).split("\n")):
        for word in line.split():
            found.setdefault(stem(word), {})[f"{_MARK}{number}"] = None
    return {term: tuple(concepts) for term, concepts in found.items()}


def concepts_of(term: str) -> tuple[str, ...]:
    """Return the concepts of a term (a stem); most terms have none. A concept never equals a term."""
    return _table().get(term, ())
