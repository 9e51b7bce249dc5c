"""The seven pages of *Pretraining at scale*, section 1i: a crawl in miniature, of which two pages are kept."""

_RIVER = """\
A river is never the same width for long. In spring the melt from the hills lifts the water over its \
banks, and the meadow below the old mill turns into a shallow lake that herons cross on foot. By August \
the stream has shrunk to a ribbon of clear water between two wide shelves of gravel, and children build \
dams that last until the next storm.
The miller who worked here until 1931 wrote the height of the water on the door frame every Sunday. His \
marks are still there, a ladder of pencil lines that begins at the knee and ends above the lintel, where \
he noted that the flour had to be carried upstairs. Engineers later compared his figures with the gauge \
at the bridge and found that he had been wrong by less than the width of a hand."""

_BREAD = """\
Good bread asks for patience more than for skill. Mix the flour with water and leave it alone for half \
an hour before the salt goes in; the dough will be smoother than ten minutes of kneading could have made \
it. After that it needs to be folded three times, with a rest between the folds that is long enough to \
forget about it.
Bakers have argued for years about how hot an oven should be. What can be said with some confidence is \
that the first ten minutes matter most, because steam keeps the crust soft while the loaf still wants to \
grow. Once the steam is gone the crust hardens, darkens and begins to smell the way a bakery does at \
five in the morning."""

_FRENCH = """\
Le marché du village se tient sur la place depuis plus de deux siècles, et les habitants y viennent \
autant pour parler que pour acheter. Dans les allées, on trouve des fromages de chèvre, du pain de \
seigle et des légumes qui ont été cueillis le matin même. Le boucher connaît le nom de tous les enfants, \
et il leur donne une tranche de saucisson quand leur mère ne regarde pas. À midi, les cloches sonnent, \
les tables sont pliées et la place est rendue aux pigeons jusqu'au mardi suivant."""

_NAVIGATION = "Home | About us | Contact | Privacy policy | Log in"

_KEYWORDS = "\n".join(
    f"cheap {ware} in {place}, discount {ware} in {place}, buy {ware} online in {place} now"
    for ware, place in (
        ("sneakers", "London"),
        ("handbags", "Madrid"),
        ("watches", "Berlin"),
        ("sunglasses", "Lisbon"),
        ("mattresses", "Dublin"),
        ("headphones", "Vienna"),
    )
)

CRAWL_SAMPLE: tuple[str, ...] = (
    _RIVER,  # kept
    _FRENCH,  # another language
    _NAVIGATION,  # too few words
    _KEYWORDS,  # no stop word that real prose can't avoid
    "  " + _RIVER.upper().replace("\n", "\n\n\t").replace(" THE ", "  THE\u00a0"),  # the first, reformatted
    _RIVER + "\nRead more stories like this one on our site.",  # the first, one line appended
    _BREAD,  # kept
)
"""Page texts: two good articles, a French page, a navigation bar, keywords, an exact and a near copy."""
