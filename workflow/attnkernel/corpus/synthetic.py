"""A synthetic corpus of earnings calls, filings and company profiles.

The article's text came from a generator that was not published; this one is our own, made to its description.
Every document is about one company, with the people, products, places and rivals of that company. What the
sentences talk about are noun phrases that all documents draw from the same two Pitman-Yor restaurants (Pitman
and Yor 1997; Teh 2006): one seats phrases, and draws the words of a new phrase from the other, which makes
a new word of roots, prefixes and suffixes. A document therefore repeats its names far more often than the
corpus does, and its phrases hardly more often: the names are what a cache can gain on.

Amounts, rates and years are written out of the text, as in the article's excerpt: "came to million".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from attnkernel.errors import InputError

Words = tuple[str, ...]
Names = Mapping[str, Sequence[Words]]
Source = Callable[[], Words]
Dish = TypeVar("Dish")
Item = TypeVar("Item")
Value = TypeVar("Value")


def _words(text: str) -> Words:
    return tuple(text.split())


KINDS = ("call", "filing", "profile")

# A form is a line of words. `a|b` chooses one of the alternatives, and `_` joins the words of an alternative;
# `{slot}` is filled with one of the company's names, with a noun phrase (`np`) or one noun (`noun`) from
# the restaurants, or with an entry of LISTS.
OPENINGS: Mapping[str, Words] = {
    "call": (
        "a warm welcome to everyone on the {company} {quarter} quarter call",
        "thanks for dialing into the {company} earnings|investor call",
        "welcome to today's {company} conference call hosted from {place}",
        "greetings to all who called in to hear {person} of {company}",
        "this is {person} speaking on behalf of {company}",
    ),
    "filing": (
        "{company} files this annual|periodic|interim report from its offices in {place}",
        "this report describes the business of {company} and its subsidiaries",
        "{company} is a {adjective} supplier|producer|distributor|developer of {np}",
        "unless noted otherwise the registrant means {company} and its affiliates",
        "the registrant {company} was incorporated in {place}",
    ),
    "profile": (
        "{company} is a {adjective} maker|provider|seller|operator of {np} based in {place}",
        "founded in {place} {company} builds|sells|designs {np}",
        "few firms in {place} know {np} as well as {company}",
        "{person} started {company} in a workshop|garage|warehouse|laboratory near {place}",
        "the story of {company} begins with {np}",
    ),
}

SHARED_FORMS: Words = (
    "{measure} for the year came to million",
    "{company} posted {measure} of million for the {quarter} quarter",
    "{company} reported that {measure} {moved} {compared}",
    "{measure} at {company} {moved} as {np} {moved}",
    "{company} sells {np} mainly|chiefly|largely through {np}",
    "{company} expects|anticipates|projects {adjective} demand for {np}",
    "interest in the {product} {moved} {when}",
    "the {product} remains|became|is {company} 's {adjective} product",
    "orders for {np} at {company} {moved} {when}",
    "customers of {company} in {place} bought|ordered|leased|financed {np} and {np}",
    "{rival} and {company} compete|bid|contend for {np}",
    "{company} faces|meets {adjective} competition from {rival}",
    "{person} leads|oversees|directs|supervises the {noun} business|division|group|segment",
    "operations of {company} in {place} concentrate|focus|center on {np}",
    "a {adjective} plant|facility|depot|center in {place} handles|processes|assembles {np}",
    "{company} employs {adjective} teams|engineers|technicians for {np}",
    "shipments of {np} to {place} {moved} {when}",
    "spending on {np} {moved} while outlays for {np} {moved}",
    "{np} accounted for percent of {company} 's {measure}",
    "the management|board|leadership of {company} considers|regards {np} {adjective}",
    "{company} acquired|purchased|absorbed a {noun} unit|business|company from {rival}",
    "the acquisition of {rival} adds|brings|contributes {np}",
    "margins on {np} and {np} {moved} {because}",
    "prices of {np} at {rival} {moved} {because}",
    "inventories of {noun} at {company} stood|remained|finished {adjective} {when}",
    "{company} opened|closed|expanded|relocated its {np} office in {place}",
    "suppliers of {np} in {place} raised|lowered|renegotiated prices|terms",
    "{company} plans|intends|hopes|proposes to {invest} {np}",
    "{company} {invested} {np} and {np} {because}",
    "{person} expects|foresees {np} to recover|strengthen|weaken|stabilize {when}",
)

FORMS: Mapping[str, Words] = {
    "call": (
        "let me turn|move|switch to {np}",
        "now|next {person} will discuss|review|present {np}",
        "we saw|observed|experienced {adjective} activity|trading|volumes in {np} {when}",
        "our {noun} backlog|pipeline|footprint {moved} {when}",
        "we at {company} continue|are_prepared to {invest} {np}",
        "{person} mentioned|emphasized|underlined {np} and {np}",
        "guidance for {np} assumes|reflects|includes {adjective} {np}",
        "for the full year {company} expects|forecasts|models {measure} of million",
        "we raised|reiterated|lowered|withdrew our outlook for {measure}",
        "our customers keep|stopped|started asking about|for {np}",
        "on {np} we made|delivered|achieved {adjective} progress",
        "the question about {np} goes|belongs to {person}",
        "pricing in {noun} was|proved|turned {adjective} {when}",
        "{company} launched|introduced|shipped the {product} in {place} {when}",
        "feedback on the {product} has_been|was|remains {adjective}",
        "we are pleased|encouraged|satisfied with {np}",
        "cash from {np} funded|financed|supported {np}",
        "compared with {rival} our {noun} costs|returns|volumes {moved}",
        "headwinds|tailwinds in {np} {moved} {because}",
        "{company} returned million to shareholders|stockholders|investors {when}",
    ),
    "filing": (
        "{company} depends|relies on {np} for a {adjective} share|portion of {measure}",
        "changes|disruptions|shortages in {np} could|may|might harm|affect|reduce {company}",
        "{measure} of {company} consists|consisted primarily|mostly|entirely of {np} and {np}",
        "the decrease|increase|change in {measure} resulted|arose|stemmed from {np}",
        "goodwill related|attributable|allocated to {np} was|totaled million",
        "an impairment of {noun} at {company} was|has_been recorded|recognized {when}",
        "{company} leases|owns|occupies properties|buildings|land in {place}",
        "proceedings|claims|actions concerning|regarding|involving {np} are|remain pending in {place}",
        "borrowings under the {noun} facility|agreement|program bear interest at percent",
        "depreciation of {noun} equipment|assets|property {moved} {when}",
        "regulators|authorities in {place} reviewed|examined|approved {company} and its {np}",
        "the {product} is protected|covered by patents|licenses in {place}",
        "{person} was|has_been appointed|elected|nominated director of {company} {when}",
        "contracts|agreements for {np} expire|renew|terminate {when}",
        "{company} recognizes|defers|records revenue from {np} {when}",
        "reserves for {noun} and {noun} {moved} {because}",
        "a {adjective} loss|gain on {np} offset|exceeded|reduced {measure}",
        "taxes on {noun} income|gains|transfers {moved} {because}",
        "commitments of {company} to purchase|deliver|supply {np} totaled|exceeded million",
        "see the discussion|note|section on {np} and {np}",
    ),
    "profile": (
        "{person} joined|left {rival} before|after working on {np}",
        "{person} studied|researched|taught {noun} in {place}",
        "the {product} grew|evolved|emerged out of {np}",
        "analysts|observers|journalists describe|praise|question {company} for its {np}",
        "its {adjective} bet|wager on {np} paid|worked out {when}",
        "{company} now|still|also makes|markets|repairs {np} and {np}",
        "{rival} once|twice|never tried|offered to buy {company}",
        "outside {place} the {product} is|remains {adjective}",
        "employees|workers|colleagues call {person} {adjective}",
        "{company} entered|exited|dominates the {noun} market|trade|industry {when}",
        "much|most|half of {company} 's {noun} comes|arrives|originates from {place}",
        "a {adjective} partnership|alliance|venture with {rival} covers|concerns|targets {np} and {np}",
        "{person} and {person} share|divide|disputed control of {company}",
        "the {company} {noun} strategy|culture|reputation is|became|seems {adjective}",
        "investors|lenders|backers value {company} for {np}",
    ),
}

CLOSINGS: Mapping[str, Words] = {
    "call": (
        "that concludes|completes|ends our {quarter} quarter remarks",
        "operator please open the line|queue for questions",
        "thank_you|thanks for your interest in {company}",
    ),
    "filing": (
        "signed on behalf of {company} by {person}",
        "{person} certified this report in {place}",
        "these statements include the accounts of {company}",
    ),
    "profile": (
        "for {company} the next chapter|decade is {np}",
        "{person} still lives|works in {place}",
        "{company} remains|stays privately|closely|publicly held",
    ),
}

LISTS: Mapping[str, Words] = {
    "quarter": ("first", "second", "third", "fourth"),
    "adjective": _words(
        """
    strong weak significant limited steady growing leading specialized regional global modest
    substantial profitable costly competitive resilient volatile favorable temporary
    considerable sustainable disciplined cautious reliable seasonal solid mature
    """
    ),
    "measure": (
        "revenue",
        "net revenue",
        "net income",
        "operating income",
        "gross profit",
        "free cash flow",
        "total assets",
        "administrative expense",
        "capital expenditure",
        "interest expense",
        "research expense",
        "subscription revenue",
        "deferred revenue",
        "working capital",
    ),
    "moved": (
        "increased",
        "decreased",
        "improved",
        "declined",
        "rose sharply",
        "fell slightly",
        "stayed flat",
        "recovered",
        "softened",
        "accelerated",
        "doubled",
        "contracted modestly",
        "fluctuated",
        "outpaced plan",
        "exceeded expectations",
        "missed forecasts",
    ),
    "compared": (
        "compared with the prior year",
        "from the {quarter} quarter",
        "year over year",
        "on a comparable basis",
        "excluding {np}",
        "at constant currency",
        "before {noun} charges",
    ),
    "when": (
        "during the {quarter} quarter of the year",
        "in fiscal",
        "since the start of the year",
        "throughout the year",
        "in the second half of the year",
        "over the past several months",
        "in the summer",
        "in the months after its restructuring",
        "in the months before a merger",
        "well ahead of schedule",
        "in {place}",
    ),
    "because": (
        "because of {np}",
        "owing to {adjective} {np}",
        "despite {np}",
        "reflecting {np} and {np}",
        "as {np} {moved}",
        "driven by {np}",
        "without help from {noun}",
        "even as {rival} retreated",
    ),
    "invest": (
        "invest in",
        "divest",
        "consolidate",
        "modernize",
        "outsource",
        "scale back",
        "redesign",
        "exit",
    ),
    "invested": (
        "invested in",
        "divested",
        "consolidated",
        "modernized",
        "outsourced",
        "scaled back",
        "redesigned",
    ),
}

COMPANIES: Words = _words(
    """
    alderman ashgrove bramwell briarwood calloway cedarline copperfield crestmont dalewood eastmoor
    fairhaven fernhill garrick glenmore granby greyfield halcyon hartwell hazelmere holloway ironbridge
    jarrow kestrel kingsley lakeshore larkspur lindale lockhart maplewood marlowe meridian millbrook
    norwick oakhurst orchard palisade pemberton pinecrest quarry ravensworth redwick riverton rookwood
    saltmarsh sandford silverton stanmore sterling stonebrook summerfield tamarack thornbury tideway
    underhill valmont wakefield waverly westbrook whitmore willowdale windermere wolcott yarrow zephyr
    """
)
SECTORS: Words = _words(
    """
    acoustics agronomy apparel automation beverages biologics ceramics chemicals components diagnostics
    dynamics energy engines fabrics foods forestry freight furnishings instruments insurance logistics
    materials media metals microsystems mining networks optics packaging paper pharma plastics polymers
    power retail robotics seeds shipping software staffing textiles tools transit utilities ventures
    waters wireless
    """
)
FIRST_NAMES: Words = _words(
    """
    abigail adrian agnes alan amara anders anita arjun beatrice bernard bianca boris camille carlos celia
    chen clara conrad dara dmitri edith elias emeka erin farah felix fiona gareth gloria hana hassan helga
    ines ivan jasper joan kamal karin keiko lars leila lucia magnus maya mikhail nadia nigel olga omar
    paula pedro priya ramon renata rosa samir selma stefan tariq tessa ursula victor wanda xavier yara
    yusuf zelda
    """
)
LAST_NAMES: Words = _words(
    """
    abbott acheson albrecht amado bakker banerjee bellamy bergstrom calder castellano chowdhury clarke
    dawes delacroix duarte eklund fairchild fontaine gallagher gupta hagen haddad hollis ibarra ishikawa
    jansen jimenez kapoor keller kowalski lambert lindqvist macleod mbeki mercer moreau nakamura novak
    obrien okafor oyelaran palmer petrov quigley ramirez reyes romano sandoval schultz sokolov sorensen
    takahashi thorne tomlinson vance vasquez visser wexler whitaker yamada zhang zimmerman
    """
)
PLACES: Words = _words(
    """
    alberta antwerp arizona austria barcelona belgium bergen bolivia brisbane busan cairo calgary chile
    cologne colombia denmark detroit estonia finland geneva ghana glasgow hamburg hanoi houston hungary
    iceland indonesia ireland jakarta kansas kenya kyoto latvia lisbon malaysia manila marseille melbourne
    memphis mexico milan montreal morocco nairobi nevada norway ontario oregon osaka peru poland porto
    prague quebec rotterdam scotland seville singapore sweden taiwan tennessee thailand toronto turin
    uruguay vermont vietnam virginia warsaw zurich
    """
)
MODELS: Words = _words(
    """
    albatross aster badger beacon bison cobalt comet condor coral cricket cypress dolphin ember falcon
    finch fox garnet gazelle harrier heron indigo iris jaguar juniper lantern linnet lotus lynx magpie
    marten mosaic nimbus ocelot onyx opal orion osprey otter petrel pioneer plover puma quartz raven
    saffron sable sparrow swift teal topaz vega viper walrus willet zenith
    """
)
DEVICES: Words = _words(
    """
    adapter alternator analyzer assembler battery blender boiler camera capacitor chiller compressor
    console controller conveyor cutter detector dispenser drill dryer engine exchanger fastener filter
    gauge generator harvester heater inverter kiln laminator lathe loader meter mixer monitor motor nozzle
    pump reactor regulator sampler scanner sensor separator sprayer tablet terminal transformer turbine
    valve welder winch
    """
)
ROOTS: Words = _words(
    """
    account alloy annuity asset auction balance bank barrel battery benefit binder board bottle branch
    brand bridge budget bundle cable capital cargo carbon carrier cart catalog channel charter circuit
    claim clinic coating contract copper credit crop custom cylinder dairy debt dealer design display
    dividend dock drain earnings element estate export fabric factory fiber field film finance fixture
    flour forge format frame franchise fuel fund furnace gasket glass grain grid guarantee harbor harvest
    hedge import index input invoice keyboard label leather lease ledger lender lens license lumber magnet
    market membrane merchant metal module mortgage motor notebook option order oxide panel parcel pasture
    patent payment pellet pension permit pigment pipe plastic platform policy portfolio powder premium
    printer processor profit proxy pulp quota rail ratio receipt refund rental resin retail revenue risk
    rotor royalty salary satellite saving screen seed service share shuttle signal silicon solvent spindle
    stock storage subsidy supply surplus survey switch tariff tenant textile ticket timber title token
    tooling trade traffic trailer transfer treasury trust tunnel utility vault vendor vessel voucher wafer
    warrant warehouse water wharf yield
    """
)
PREFIXES: Words = _words(
    """
    anti bi counter cross de extra hyper infra inter macro mega meta micro mid mono multi non out over
    para poly post pre pro re semi sub super trans tri ultra under uni up
    """
)
SUFFIXES: Words = _words(
    """
    age base craft dom flow fold front head hood house land less line man mark mate ment port room s ship
    side smith stream ward ware way wise works yard
    """
)
SHAPES = ("root", "prefixed", "suffixed", "both", "compound")


@dataclass(frozen=True)
class Parameters:
    """What the generator is told; every value comes from the configuration.

    Attributes
    ----------
    documents
        Number of documents.
    kinds
        Probability of each of `KINDS`.
    sentences
        Least and greatest number of sentences in a document, both included; uniform between them.
    phrase_discount, phrase_strength, word_discount, word_strength
        Discount (in [0, 1)) and strength (> -discount) of the two restaurants.
    phrase_lengths
        Probabilities of a new phrase of 1, 2, ... words.
    shapes
        Probability of each of `SHAPES` of a new word.
    companies
        How many companies there are to write about; each document is about one of them.
    people, products, places, rivals
        How many of each a company has.
    """

    documents: int
    kinds: Mapping[str, float]
    sentences: tuple[int, int]
    phrase_discount: float
    phrase_strength: float
    word_discount: float
    word_strength: float
    phrase_lengths: tuple[float, ...]
    shapes: Mapping[str, float]
    companies: int
    people: int
    products: int
    places: int
    rivals: int


class Document(NamedTuple):
    """One document: sentences of words, without `</s>`."""

    id: str
    kind: str
    sentences: list[list[str]]


class Restaurant(Generic[Dish]):
    """A Chinese restaurant with the Pitman-Yor seating plan (Pitman and Yor 1997).

    With T tables and n customers so far, the next customer opens a table with probability
    `(strength + discount T) / (strength + n)` and joins table k, of `c_k` customers, with probability
    `(c_k - discount) / (strength + n)`.

    Parameters
    ----------
    discount
        In [0, 1). The number of tables grows as n to this power.
    strength
        Greater than `-discount`.
    base
        Makes the dish of a new table.
    rng
        Seats the customers.

    Raises
    ------
    ValueError
        Discount or strength lies outside its range.
    """

    def __init__(self, discount: float, strength: float, base: Callable[[], Dish], rng: np.random.Generator) -> None:
        if not 0.0 <= discount < 1.0:
            raise ValueError(f"a Pitman-Yor discount lies in [0, 1), got {discount}")
        if not strength > -discount:
            raise ValueError(f"a Pitman-Yor strength is greater than -discount = {-discount}, got {strength}")
        self.discount, self.strength, self._base, self._rng = discount, strength, base, rng
        self.dishes: list[Dish] = []
        self.sizes: list[int] = []
        self._table_of: list[int] = []

    def new_table_probability(self) -> float:
        """Probability that the next customer opens a table."""
        if not self.sizes:
            return 1.0
        return (self.strength + self.discount * len(self.sizes)) / (self.strength + len(self._table_of))

    def predictive(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Probabilities that the next customer joins each table, then that it opens one; shape (T + 1,)."""
        new = self.new_table_probability()
        joined = (np.array(self.sizes, dtype=np.float64) - self.discount) / (self.strength + len(self._table_of))
        return np.append(joined, new)

    def draw(self) -> Dish:
        """Seat one customer and return the dish of its table."""
        if self._rng.random() < self.new_table_probability():
            table = len(self.sizes)
            self.dishes.append(self._base())
            self.sizes.append(0)
        else:
            table = self._occupied()
        self.sizes[table] += 1
        self._table_of.append(table)
        return self.dishes[table]

    def _occupied(self) -> int:
        """Draw a table with probability proportional to `c_k - discount`, at a cost free of T."""
        while True:
            # A customer sits at k with probability c_k / n; keeping k with 1 - discount / c_k is the plan.
            table = self._table_of[int(self._rng.random() * len(self._table_of))]
            if self._rng.random() * self.sizes[table] >= self.discount:
                return table


def generate(parameters: Parameters, seed_sequence: np.random.SeedSequence) -> list[Document]:
    """Generate the corpus.

    One stream of random numbers and one pair of restaurants serve all documents in their order: a document
    depends on the seed and on its number, and not on how many documents follow. Customers of a Pitman-Yor
    restaurant are exchangeable, so a split by hash is as good here as in any other corpus.

    Parameters
    ----------
    parameters
        See `Parameters`.
    seed_sequence
        Source of all randomness; it isn't changed.

    Returns
    -------
    list of Document
        In the order in which they were written.

    Raises
    ------
    InputError
        A kind or shape is missing or unknown, or probabilities don't sum to 1.
    ValueError
        A parameter is out of range.
    """
    rng = np.random.default_rng(seed_sequence)
    kinds = _cumulative("kinds", _in_order("kinds", parameters.kinds, KINDS))
    shapes = _cumulative("shapes", _in_order("shapes", parameters.shapes, SHAPES))
    lengths = _cumulative("phrase_lengths", parameters.phrase_lengths)
    words = Restaurant(
        parameters.word_discount,
        parameters.word_strength,
        lambda: _new_word(rng, SHAPES[_pick(rng, shapes)]),
        rng,
    )
    phrases = Restaurant(
        parameters.phrase_discount,
        parameters.phrase_strength,
        lambda: tuple(words.draw() for _ in range(1 + _pick(rng, lengths))),
        rng,
    )
    registry = _registry(rng, parameters)
    least, greatest = parameters.sentences
    documents: list[Document] = []
    for number in range(parameters.documents):
        kind = KINDS[_pick(rng, kinds)]
        sources: dict[str, Source] = {"{np}": phrases.draw, "{noun}": lambda: (words.draw(),)}
        for slot, names in _choice(rng, registry).items():
            sources[slot] = partial(_choice, rng, names)
        forms = _forms(rng, kind, least + int(rng.random() * (greatest - least + 1)))
        documents.append(Document(f"{kind}-{number:05d}", kind, [_fill(rng, form, sources) for form in forms]))
    return documents


def _forms(rng: np.random.Generator, kind: str, length: int) -> list[str]:
    """Draw the forms of one document: an opening, a body and a closing."""
    body = SHARED_FORMS + FORMS[kind]
    middle = [_choice(rng, body) for _ in range(length - 2)]
    return [_choice(rng, OPENINGS[kind]), *middle, _choice(rng, CLOSINGS[kind])]


def _fill(rng: np.random.Generator, form: str, sources: Mapping[str, Source]) -> list[str]:
    """Write the sentence of a form."""
    sentence: list[str] = []
    for item in _parse(form):
        if isinstance(item, tuple):
            sentence.extend(_fill(rng, _choice(rng, item), sources))
        elif item in sources:
            sentence.extend(sources[item]())
        else:
            sentence.append(item)
    return sentence


@cache
def _parse(form: str) -> tuple[str | Words, ...]:
    """Split a form into words and slots (str) and alternatives, themselves forms (tuple)."""

    def item(text: str) -> str | Words:
        if "|" in text:
            return tuple(alternative.replace("_", " ") for alternative in text.split("|"))
        return LISTS.get(text.strip("{}"), text) if text.startswith("{") else text

    return tuple(item(text) for text in form.split())


def _registry(rng: np.random.Generator, parameters: Parameters) -> list[Names]:
    """Draw the companies: of each, the names that may fill each slot."""
    companies = [(first, _choice(rng, SECTORS)) for first in _distinct(rng, COMPANIES, parameters.companies)]
    return [
        {
            "{company}": [company],
            "{rival}": _distinct(rng, [other for other in companies if other != company], parameters.rivals),
            "{person}": [(first, _choice(rng, LAST_NAMES)) for first in _distinct(rng, FIRST_NAMES, parameters.people)],
            "{product}": [(model, _choice(rng, DEVICES)) for model in _distinct(rng, MODELS, parameters.products)],
            "{place}": [(place,) for place in _distinct(rng, PLACES, parameters.places)],
        }
        for company in companies
    ]


def _new_word(rng: np.random.Generator, shape: str) -> str:
    """Make a word of one of `SHAPES`."""
    root = _choice(rng, ROOTS)
    if shape == "compound":
        return root + _choice(rng, ROOTS)
    prefix = _choice(rng, PREFIXES) if shape in {"prefixed", "both"} else ""
    suffix = _choice(rng, SUFFIXES) if shape in {"suffixed", "both"} else ""
    return prefix + root + suffix


def _distinct(rng: np.random.Generator, pool: Sequence[Item], count: int) -> list[Item]:
    return [pool[index] for index in rng.choice(len(pool), size=count, replace=False)]


def _choice(rng: np.random.Generator, options: Sequence[Item]) -> Item:
    # A scalar rng.integers costs ten times as much, and this is the innermost call.
    return options[int(rng.random() * len(options))]


def _pick(rng: np.random.Generator, cumulative: Sequence[float]) -> int:
    return bisect_right(cumulative, rng.random(), hi=len(cumulative) - 1)


def _cumulative(name: str, probabilities: Sequence[float]) -> list[float]:
    """Cumulative sums of probabilities, checked."""
    if min(probabilities, default=-1.0) < 0.0 or abs(sum(probabilities) - 1.0) > 1e-9:
        given = ", ".join(map(str, probabilities))
        raise InputError(f"synthetic.{name}: probabilities are non-negative and sum to 1, got {given}")
    return list(accumulate(probabilities))


def _in_order(name: str, values: Mapping[str, Value], keys: Words) -> list[Value]:
    """Return the values in the order of the keys, whatever the order of the configuration."""
    if set(values) != set(keys):
        raise InputError(f"synthetic.{name}: needs exactly the keys {', '.join(keys)}, got {', '.join(values)}")
    return [values[key] for key in keys]
