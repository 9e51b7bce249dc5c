"""Pages made for `curate run --canaries`: foreign ones, boilerplate, and pages that break one rule each."""

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

FOREIGN = {
    "de": "Am frühen Morgen öffnet die Bäckerei an der Ecke, und schon stehen die ersten Kunden vor der Tür. Der "
    "Meister hat die ganze Nacht gearbeitet, damit die Brötchen noch warm sind, wenn die Schule beginnt. "
    "Seine Tochter lernt das Handwerk auch, obwohl sie lieber Musik machen würde. Am Abend wird der Laden "
    "geputzt und das übrige Brot an die Nachbarn verteilt, denn weggeworfen wird hier nichts.",
    "fr": "Chaque été, les habitants du village se retrouvent sur la place pour préparer la fête. Les enfants "
    "accrochent des lampions entre les arbres pendant que les anciens racontent comment c'était autrefois. On"
    " mange dehors, à de longues tables, et la musique dure jusque tard dans la nuit. Le lendemain, tout le "
    "monde aide à ranger, puis chacun rentre chez soi en pensant déjà à l'année prochaine.",
    "es": "El mercado abre los sábados por la mañana y la gente llega de todos los pueblos de la comarca. Se vende "
    "fruta, queso y pan, pero también herramientas viejas y libros usados. Mi abuela siempre decía que allí "
    "se encuentra todo lo que uno no sabía que buscaba. A mediodía los vendedores recogen sus puestos y se "
    "sientan juntos a comer bajo los árboles de la plaza.",
    "it": "Il treno parte ogni giorno alle sette e attraversa tutta la valle prima di arrivare al mare. Molti "
    "studenti dormono durante il viaggio, altri leggono oppure guardano le montagne dal finestrino. Il "
    "controllore conosce tutti per nome e chiede come stanno le famiglie. Quando nevica il treno è in "
    "ritardo, ma nessuno si arrabbia, perché il paesaggio è bellissimo.",
    "nl": "De molen aan de rivier is meer dan driehonderd jaar oud en draait nog altijd wanneer het hard genoeg "
    "waait. De molenaar laat bezoekers graag zien hoe het graan vroeger werd gemalen. Zijn grootvader deed "
    "hetzelfde werk en heeft hem alles geleerd wat hij weet. In de winter wordt het dak gerepareerd, want in "
    "het voorjaar komen er weer klassen uit de hele streek.",
    "pt": "A biblioteca da cidade fica numa casa antiga perto do rio e está sempre cheia de crianças. A senhora que"
    " trabalha ali conta histórias todas as quartas-feiras e ninguém quer perder nenhuma. Os livros mais "
    "velhos estão no andar de cima, onde faz muito calor no verão. Dizem que um dia vão construir um prédio "
    "novo, mas as pessoas gostam mais deste.",
    "ru": "Каждую осень жители деревни собирают яблоки и варят из них варенье на всю зиму. Дети помогают взрослым и"
    " рассказывают друг другу смешные истории. Вечером все садятся за большой стол, пьют чай и слушают, как "
    "старики вспоминают прошлое. Когда выпадает первый снег, работы становится меньше, и люди чаще ходят друг"
    " к другу в гости.",
    "pl": "W małym miasteczku nad jeziorem co roku odbywają się zawody rybackie, na które przyjeżdżają goście z "
    "całego kraju. Zwycięzca dostaje puchar i zaproszenie na kolację u burmistrza. Starsi mieszkańcy mówią, "
    "że dawniej ryb było więcej, ale nikt im już nie wierzy. Po zawodach wszyscy tańczą na rynku, nawet jeśli"
    " pada deszcz.",
    "tr": "Her pazar sabahı balıkçılar denizden döner ve tuttukları balıkları limanda satarlar. Çocuklar kedilerle "
    "oynarken büyükler çay içip havadan konuşurlar. Yaşlı bir kaptan bize gençliğinde gördüğü fırtınaları "
    "anlattı. Akşam olunca tekneler tekrar hazırlanır, çünkü ertesi gün güneş doğmadan yola çıkmak gerekir.",
    "ja": "駅の近くにある小さな喫茶店には、毎朝同じ人たちが集まります。店の主人は豆を自分で選び、一杯ずつ丁寧にいれ"
    "ます。窓の外を学生や会社員が急いで通り過ぎていきますが、店の中ではゆっくりと時間が流れます。雨の日には昔"
    "の音楽がよく似合います。",
}

BOILERPLATE = {
    "cookies": "We and our partners use cookies to serve you better. Accept all. Reject all. Manage choices.",
    "not_found": "Page not found. The address may be wrong, or the page was moved. Go back to the home page.",
    "login": "Please sign in to continue. Forgot your password? Create a new account. Remember me on this device.",
    "menu": "Home. Products. News. About us. Contact. Imprint. Privacy. Terms. Follow us. Subscribe to our newsletter.",
    "error": "Something went wrong on our side and we could not load this page. Please try again in a few minutes.",
}

SENTENCE = "The keeper of the lighthouse wrote a letter to the captain and asked when the ship would come back."
NOUNS = "kettle ladder carpet button window basket candle mirror pencil bottle hammer pillow saucer drawer".split()


def rule_breaking() -> dict[str, str]:
    """Texts that no rule set for prose should keep, by what is wrong with them; lines are apart by line breaks."""
    numbers = [f"{n * 7919 % 9973} {n * 104729 % 99991} {n * 31 % 1009}" for n in range(60)]
    return {
        "few_words": "A short note of ten words that ends just here.",
        "one_line_again": "\n".join([SENTENCE] * 30),
        "keywords": " ".join(NOUNS[n * n % len(NOUNS)] + ("" if n % 3 else "s") for n in range(150)),
        "numbers": "\n".join(numbers),
        "hashes": "\n".join(f"# {noun} # {noun}s # the # of #" for noun in NOUNS for _ in range(3)),
        "ellipses": "\n".join(f"the {noun} of the house and the {noun}s of..." for noun in NOUNS * 3),
        "bullets": "\n".join(f"• the {noun} and the box with {noun}s to be {n}" for n, noun in enumerate(NOUNS * 3)),
        "long_words": " ".join("".join(NOUNS[(n + k) % len(NOUNS)] for k in range(4)) for n in range(80)),
        "two_words_again": "the house and " + "red tape " * 80,
    }


class Made(NamedTuple):
    """A made page: `kind` and `name` say what it is, `language` what it is written in."""

    kind: str
    name: str
    language: str
    text: str

    @property
    def html(self) -> bytes:
        """The page as HTML, a paragraph a line."""
        lines = "\n".join(f"<p>{escape(line)}</p>" for line in self.text.split("\n"))
        head = (
            f'<!DOCTYPE html><html lang="{self.language}"><head><meta charset="utf-8"><title>{self.name}</title></head>'
        )
        return f"{head}<body><main><article>\n{lines}\n</article></main></body></html>\n".encode()


def made_pages() -> Iterator[Made]:
    """All pages of these kinds."""
    for language, text in FOREIGN.items():
        yield Made("foreign", language, language, text)
    for name, text in BOILERPLATE.items():
        yield Made("boilerplate", name, "en", text)
    for name, text in rule_breaking().items():
        yield Made("rule_breaking", name, "en", text)
