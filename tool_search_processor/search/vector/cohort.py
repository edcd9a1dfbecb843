"""The names of many everyday tools from all fields, as a picture of what tools in general do.

How near a query is to a catalog says little by itself: a plain request is near to many tools, a peculiar one
to none. How much nearer it is to the catalog than to these tools shows whether the catalog serves it. In
speaker verification the voices for this are called a cohort (Auckenthaler, Carey, Lloyd-Thomas: Score
normalization for text-independent speaker verification systems, Digital Signal Processing 10, 2000,
https://doi.org/10.1006/dspr.1999.0360).
"""

from __future__ import annotations

# Names alone work as well as names with descriptions, and take a quarter of the time to embed
# (0.3 s for all with the default model). A hundred of them give half of the gain.
_NAMES = """
send email, search inbox, draft reply, archive conversation, post chat message, list channels, add reaction
send sms, start phone call, get voicemail, create calendar event, find free time, cancel meeting, set reminder
start timer, set alarm, create task, complete task, move card, create issue, assign issue, comment on issue
close ticket, list sprints, log work, create pull request, merge branch, list commits, search code
review changes, create release, run pipeline, get build log, deploy service, roll back deployment
scale workload, restart server, create instance, list containers, get pod logs, create bucket, upload object
invoke function, get metrics, create alert, acknowledge incident, who is on call, search logs, get trace
check uptime, lookup dns, whois domain, register domain, renew certificate, scan ports
scan for vulnerabilities, check password leak, locate ip address, block address, create user, reset password
verify token, assign role, list permissions, audit log, run query, list tables, describe schema, insert row
update record, delete records, create index, aggregate documents, export data, import spreadsheet, read cells
write cells, create chart, build dashboard, forecast series, fit regression, test hypothesis, train model
cluster points, detect anomalies, calculate expression, solve equation, integrate function, multiply matrices
convert units, convert currency, generate random number, greatest common divisor, compute area
kinetic energy, balance reaction, molar mass, translate dna, find gene, protein structure, search papers
get citations, search patents, plan orbit, sky map, earthquake list, get weather, weather forecast
air quality, tide times, pollen count, geocode address, get directions, distance between, nearby places
traffic report, train timetable, bus arrivals, find parking, order taxi, rent car, search flights
flight status, book hotel, cancel reservation, plan trip, visa requirements, find restaurant, reserve table
order food, find recipe, nutrition facts, plan meals, suggest wine, count calories, log workout
plan training, track sleep, heart rate, symptom check, drug interactions, find doctor, book appointment
patient record, meditation session, search products, product details, compare prices, read reviews
add to cart, place order, track parcel, return item, find coupon, update inventory, create invoice
take payment, refund payment, list subscriptions, account balance, transfer money, list transactions
track expenses, plan budget, file tax return, loan calculator, compound interest, credit score
insurance quote, stock price, price history, company financials, place trade, portfolio value, coin price
wallet balance, send tokens, gas fee, economic indicators, population data, company lookup, find leads
enrich contact, create contact, update deal, send campaign, add subscriber, create survey, form responses
keyword research, site traffic, rank tracker, create ad, ad performance, publish post, schedule post
follow user, user profile, trending topics, search posts, search videos, video transcript, trim video
play song, create playlist, recommend music, song lyrics, artist albums, concert tickets, movie details
recommend movies, tv schedule, search books, book summary, news headlines, podcast episodes, live scores
team standings, player statistics, betting odds, game details, game statistics, roll dice, chess move
trivia question, tell joke, daily quote, horoscope, tarot reading, name meaning, baby names, gift ideas
write story, write poem, write code, explain code, run code, format code, run tests, validate json
match pattern, encode base64, hash text, generate uuid, encrypt file, read file, write file, list directory
move file, delete file, compress files, share file, search drive, create document, create slides, edit page
create note, search notes, convert pdf, extract text, merge pdfs, sign document, summarize text
translate text, detect language, check grammar, define word, find synonyms, practice language
analyze sentiment, extract entities, moderate content, generate image, edit image, describe image
recognize face, remove background, search photos, make diagram, make qr code, design logo, color palette
text to speech, transcribe audio, web search, fetch page, scrape site, open browser, click element, fill form
take screenshot, shorten link, encyclopedia article, answer question, search jobs, write resume
screen candidates, employee directory, request leave, run payroll, search homes, estimate home value
find courses, grade homework, make flashcards, find universities, find scholarships, search laws
write contract, legal advice, crime statistics, election results, find charity, find events, find volunteers
turn on light, set thermostat, lock door, camera picture, start vacuum, read sensor, control machine
vehicle status, decode vin, find charging station, fuel prices, energy use, solar estimate, carbon footprint
recycling guide, soil moisture, plan crops, plant care, identify plant, animal facts, adopt pet, supply order
plan delivery, track shipment, work order, quality report, public holidays, time zone, date difference
country facts, phone lookup, validate email, postal code
"""

COHORT = tuple(name.strip() for line in _NAMES.strip().splitlines() for name in line.split(","))
"""Names of everyday tools, as words."""

NEAREST = 10
"""The mean over so many that are nearest is what a query's nearness to a catalog is compared with."""
