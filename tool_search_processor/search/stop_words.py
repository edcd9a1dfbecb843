"""Words that wrap a request and say nothing about the tool wanted, by language.

Verbs such as get, list, find and make are not here: they say what is wanted. Nor are words that name
something in English or in technology ("hat", "comment", "AI"): a query does not say its language.
"""

# ruff: noqa: RUF001 - letters of other scripts are what is listed
from __future__ import annotations

ENGLISH = """
    a an the this that these those some any each every such same other another
    i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs
    am is are was were be been being do does did doing done has have had having
    can could will would shall should may might must ought
    what which who whom whose when where why how whether
    and or but nor so if then than as because while until although though since unless
    of at by for with about against between into through during before after above below to from up down
    in out on off over under again once here there
    no not only own too very just also both few more most much many
    please kindly thanks thank hello hi hey dear ok okay
    want wants wanted wanna need needs needed like help helps able let lets would
    s t d m ll re ve don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn ain
    im ive
    give gives using via within without upon per etc currently
    tool tools function functions
"""

GERMAN = """
    der die das den dem des ein eine einen einem einer eines und oder aber wenn dann dass ob als ich du
    er sie wir ihr mich dich ihn mir dir ihm uns euch ihnen mein meine meinen meinem meiner meines dein
    deine deinen deinem deiner ihre ihren ihrem ihrer unser unsere unseren unserem unserer euer eure
    dieser diese dieses diesen diesem jeder jede jedes ist sind bist sein wird werden werde wurde würde
    würden würdest habe haben hast hätte hätten kann kannst können könnte könntest könnten könnt darf
    dürfte möchte möchten möchtest sollte sollen brauche brauchen bräuchte für mit von vom zum zur zu
    auf aus bei beim nach im an am durch gegen ohne zwischen wie wer wo wann warum welche welcher
    welches welchen welchem wieviel wieviele nicht kein keine keinen auch noch nur schon sehr etwas paar
    gern gerne gerade doch bitte danke hallo
"""

FRENCH = """
    le la les un une des du de et ou où je tu il elle nous vous ils elles me te se moi toi mon ma ta tes
    sa ses notre nos votre vos leur leurs ce cet cette ces ceci cela ça l j n qu est suis es sont être
    était avez avons avoir que qui quoi dont quel quelle quels quelles combien pourquoi quand pour par
    sur sous avec sans dans en au aux chez vers depuis selon entre pas ne très aussi donc puis si mais
    peu quelques peux peut pouvez pouvons pourriez pourrais pourrait voudrais voudrait voudrions veux
    veut voulez aimerais aimerait faut faudrait besoin fais merci plaît svp bonjour y
"""

SPANISH = """
    el la los las lo un una unos unas de del al y o e u yo tú él ella nosotros ustedes usted ellos ellas
    me te se nos le les mi mis tu tus su sus nuestro nuestra nuestros nuestras este esta estos estas ese
    esa esos esas eso esto aquel aquella es está están estoy ser soy hay he que qué quién cuál cuáles
    cómo cuándo cuánto cuánta cuántos cuántas dónde por para con en entre sobre desde hasta hacia según
    no si pero muy también algún alguna algunos algunas poco podría podrías podrían puedes puede podemos
    pueden quiero quisiera quería querría necesito gustaría favor gracias hola
"""

ITALIAN_AND_PORTUGUESE = """
    il gli di della delle dello degli dei nel nella alla alle dal dalla sul sulla che chi quale quali
    quanto mio mia miei mie tuo tua suo sua questo questa questi queste è vorrei voglio potresti
    potrebbe puoi può ho bisogno grazie favore ciao um uma umas da das ao aos à pelo pela são eu você
    vocês meu minha meus minhas seu seus suas isto isso esse essa quais poderia pode quero queria
    preciso obrigado obrigada olá
"""

RUSSIAN = """
    я ты он она оно мы вы они меня тебя его её нас вас их мне тебе ему ей нам вам им мной тобой ним ней
    мой моя моё мои моего моей моему моим моём моих твой твоя твоё твои твоего твоей наш наша наше наши
    нашего нашей нашем нашу ваш ваша ваше ваши вашего вашей вашем вашу мою твою свой своя своё свои
    своего своей своём свою этот эта это эти этого этой этому этим этом эту этих тот та те того той тому
    тем том ту тех и или но а же ли бы б да нет не ни в во на с со к ко по о об обо от до из за для при
    у без над под про через между чтобы если как что кто чем где когда куда почему какой какая какое
    какие какую каком какого какой-нибудь нибудь либо сколько ещё уже только очень тоже также есть быть
    будет будут был была было были хочу хотим хотел хотела хотелось хотели могу можешь можете может мог
    могла могли можно нужен нужна нужно нужны надо пожалуйста спасибо здравствуйте привет
"""

ARABIC = """
    من في على إلى عن مع هل ما ماذا كيف متى أين كم أي أية هذا هذه ذلك تلك هؤلاء الذي التي الذين هو هي هم
    أنا أنت أنتم نحن لي لك له لها لنا لكم بي به بها عليه عليها فيه فيها منه منها إليه أن إن أو و ثم لا
    لم لن قد كل بعض عند لدي لديك لدينا كان كانت يكون تكون سيكون ستكون ليس فضلك سمحت لو رجاء رجاءً الرجاء
    أرجو أرجوك شكرا شكراً مرحبا يمكنك يمكن يمكنني تستطيع أستطيع ممكن أريد نريد أود أحتاج أحب أرغب بحاجة
    خاص خاصة الخاص الخاصة الآن
"""

HINDI = """
    का की के को में से पर ने और या कि जो तो ही भी तक है हैं था थे थी हूँ हूं हो होगा होगी होंगे होता होती कर करना करनी
    करने करता करती करते करें करो करके कीजिए कीजिएगा किया दो दे दें देना देने देता देती देते दीजिए दीजिएगा दिया दी चाहिए
    चाहता चाहती चाहते सकते सकता सकती क्या कौन कहाँ कहां कब कैसे कैसा कैसी कितना कितने कितनी किस कोई कुछ यह ये वह वे
    इस उस इन उन इसे उसे एक मैं मुझे मुझको मेरा मेरी मेरे हम हमें हमारा हमारी हमारे आप आपका आपकी आपके तुम तुम्हारा अपना
    अपनी अपने लिए साथ बारे द्वारा रहा रही रहे जा गया गए गई वाला वाली वाले बहुत नहीं ज़रा थोड़ा थोड़ी कृपया धन्यवाद
    नमस्ते
"""

ALL = " ".join((ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN_AND_PORTUGUESE, RUSSIAN, ARABIC, HINDI)).replace(
    "'", " "
)
