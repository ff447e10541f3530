"""The vocabulary of the generated documents: plain words of water, market and workshop."""

WORDS = """
able acre across after air alder almost amber anchor anvil apple apron arch arrow ash autumn
axle bale balance bank bargain barge bark barley barn barrel basin basket bay beacon beam bean
bed bell bench bend berry birch blade blanket block blue board boat bolt bottle bottom boulder
bow bowl box bracket branch brass bread brick bridge bright brook broom brown brush bucket build
bundle buoy burn butter button buyer cable calm canal candle canoe canvas careful cargo carpet
carry cart carve cask cast cedar cellar chain chair chalk channel charcoal chart cheap cheese
cherry chest chimney chisel circle clamp clay clean clear clerk cliff clock cloth cloud clover
coal coast coat cobble coin cold common compass cool copper cord cork corn corner cotton count
courier cover cradle craft crane crate creek crew crop crown cup current curve cushion dairy dam
damp dark dawn dealer deep delta dent depth desk dial ditch dock door double dozen draft drain
drawer dredge drift drill dry dust dyke eager early earth east easy eddy edge eel elbow elder
elm empty engine enough even evening exact fabric fair fallow farm fast feather fence fern ferry
fiber field file fine finish fir fish flag flat flax fleece fleet flint float flood floor flour
flow flute fog fold foot ford forge fork fountain frame freight fresh frost full funnel furrow
gable garden gate gauge gear gentle glass glaze glove gold grain granite grape grass gravel
green grind groove grove guard gulf gust gutter hail hammer handle harbor hard harvest hatch
hawthorn hazel heap hearth heavy hedge helm hemp herb heron hill hinge hoist hollow honey hook
hoop horn house hull humble ice inch indigo inlet iron island ivy jar jetty joint journal jug
juniper keel kettle key kiln kind knife knot label lace ladder ladle lagoon lake lamp lantern
large lark last lathe lattice laurel lead leaf lean leather ledger level lever light lily lime
linen link lintel load loaf lock lodge log long loom low lumber lute mallet map maple marble
market marsh mast mat meadow measure melon mellow merchant metal middle mild mill mint mirror
mist mold moor morning mortar moss mountain mouth mud narrow nail needle nest net new noon north
notch oak oar oat ochre offer oil olive open orchard order osier otter oven owner paddle pail
paint pale panel paper parcel parish pasture patch path pattern peak pear peat pebble peg pepper
pier pigment pillar pine pipe pitch plain plane plank plaster plate plough plum pocket pole
polish pond pool poplar porch port post pot pouch pound press price print pulley pump purse
quarry quart quay quick quiet quill quilt raft rail rain rake ramp rapid rare raw reach ready
receipt reed reef region reservoir resin ribbon ridge ring ripe ripple river road robin rock
roof root rope rose rough round row rubber rudder rush rust rye sack saddle sail salt sample
sand sash saw scale scarf scoop screw sea seal season sedge seed seller settle shade shallow
shape sharp shed sheep sheet shelf shell shingle ship shoal shop shore short shovel sieve silk
silver simple single skiff slate sledge slope slow sluice small smith smoke smooth snow soap
soft soil solid sound south spade spar spindle spoke sponge spool spoon spring spruce square
stable stack stake stall stamp starling steady steam steel steep stem step stern stick still
stone store storm stove straight strap straw stream string strong sturdy summer sun supply
surplus surge swallow swan swift table tackle tallow tank tap tar tape tea thatch thick thin
thistle thread thyme tide tile timber tin tool tower trace track trade tray trellis trench
trestle trough trout trowel trunk tub tune turbine turf twig twine valley valve vapor varnish
vase vault veil velvet vessel village vine violet voyage wage wagon wall walnut warm wash watch
water wave wax weather weave wedge weir well west wharf wheat wheel whistle white wicker wide
willow winch wind window wine winter wire wood wool work worth woven wreath yard yarn year
yellow yield young
""".split()

GIVEN_NAMES = """
Ada Amina Anton Beatriz Bela Carlo Chiara Dagny Daniel Dimitra Edgar Elif Emil Esther Farid
Fatou Gesine Goran Hana Henrik Ilse Imre Ines Ivan Jadwiga Jonas Kaoru Katya Lars Leila Ling
Luca Maja Marek Mei Milan Nadia Nils Noor Olga Otto Paula Pedro Petra Quentin Rania Rosa Samir
Sanna Sofia Tamas Tariq Tove Uma Viktor Vera Wanda Wen Yara Yusuf Zoe
""".split()

FAMILY_NAMES = """
Abel Almeida Andersen Baran Bergmann Castro Cerny Dahl Demir Dupont Eklund Farkas Ferrari
Fischer Garcia Georgiou Haddad Hansen Hoffmann Horvat Ibrahim Ito Jansen Kaya Keller Kim Kovacs
Kowalski Larsen Lindgren Lopez Mancini Marin Mehta Moreau Nagy Nakamura Novak Nowak Okafor Olsen
Ortega Papadakis Pereira Petrov Popescu Rahman Rossi Santos Sato Schmidt Silva Singh Sorensen
Suzuki Tanaka Toth Urban Vargas Vogel Wagner Weber Wolf Yilmaz Zhang Ziegler
""".split()

CITIES = """
Aarhus Basel Bergen Bilbao Brno Cluj Cork Delft Dresden Evora Gdansk Ghent Graz Izmir Kaunas
Kobe Lille Linz Lund Malaga Nantes Odense Oulu Padua Patras Pilsen Porto Pune Riga Seville Split
Tampere Trier Turin Utrecht Varna Verona Zadar
""".split()

COUNTRIES = (
    "United States",
    "Austria",
    "Belgium",
    "Brazil",
    "Costa Rica",
    "Denmark",
    "Ecuador",
    "Finland",
    "Ghana",
    "Iceland",
    "Japan",
    "Kenya",
    "Netherlands",
    "New Zealand",
    "Norway",
    "Portugal",
    "Republic of Korea",
    "South Africa",
    "Switzerland",
    "Trinidad and Tobago",
)

HOSTS = ("example.com", "example.net", "example.org", "mill.example", "harbor.example")
