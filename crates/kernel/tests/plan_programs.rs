//! Programs are checked before they run: no bytes whatever may break a plan or an automaton.

// Helpers of a test say what they expect by unwrapping it, as tests do.
#![allow(clippy::unwrap_used)]

use penstock_kernel::ledger::Ledger;
use penstock_kernel::limits::Limits;
use penstock_kernel::options::Options;
use penstock_kernel::plan::{Builder, Place, Plan, SubscriptionId, TargetId, Tier};
use penstock_kernel::rows::{DocumentId, RowKind};
use penstock_kernel::session::Session;
use proptest::prelude::*;
use std::sync::Arc;

/// Compiled from the expressions above them.
const PROGRAMS: [&str; 7] = [
    // //a[b = 'x' and not(c > 3)]//d[contains(., 'y')] | /r/@id
    "505350330009017200026964016101780162016301640179010000000000000840060201010101030301010102040101\
     01020601010102070101010208010101000a0007000402010105010302080400020104050104050406020203070908\
     00020002010000040100000202020802050900",
    // //a[string-length(b[c]) > 2 or starts-with(concat(@x, .//d), 'z')]
    "505350330007016100017a01780164016301620100000000000000400502010101010304010101020501010102060101\
     0102070101010803000301070200010002090202030a010001001d02050606000b0402000104010000010202000201\
     00050103020b07010001010403030201040001000102000500",
    // count(//a[.//b])
    "50535033000301610001620002020101010102030101010003000201000502010100010001020002010000",
    // string(//a[1 = number(b)])
    "505350330003016200016101000000000000f03f020201010101020301010104030005010001001902010203000b0301\
     00010100000b000100010201010000030200",
    // boolean(//a[not(b)])
    "505350330003016200016100020201010101020301010100070002010005010001040202010305020104040500000205\
     06",
    // //a[last()]/preceding-sibling::*[position() < 3 and . = 'x'] | //b/..
    "505350330004016100017801620100000000000008400400000002010101010200000204010101000011121300030000\
     070803190202031301010101040100031b0202061100020b000809000402070a13050902010b1308010300090d1300\
     0300010e15020c0f0006100000",
    // count(//a[2]) > 1
    "505350330002016100020000000000000040000000000000f03f02000000020101010100000912130003000007010003\
     190202031301010101040c050101031d02060700070802",
];

const DOCUMENT: &[u8] =
    b"<r id='7'><a x='z'><b>x<c/></b><d>yy</d><a><b>1</b></a></a><!--c--><a><c>9</c></a></r>";

fn program(index: usize) -> Vec<u8> {
    let digits: Vec<u8> = PROGRAMS[index].bytes().collect();
    let nibble = |digit: u8| (digit as char).to_digit(16).unwrap() as u8;
    digits
        .chunks_exact(2)
        .map(|pair| nibble(pair[0]) << 4 | nibble(pair[1]))
        .collect()
}

fn plan_of(programs: &[Vec<u8>]) -> Plan {
    let mut builder = Builder::new();
    for (number, program) in programs.iter().enumerate() {
        builder
            .add(SubscriptionId(number as u32), Place(0), program)
            .unwrap();
    }
    builder.freeze()
}

/// What each row says: subscription, kind, value, start, end, decided at.
type RowList = Vec<(u32, u8, Vec<u8>, i64, i64, i64)>;

fn run(plan: Plan, piece_bytes: usize) -> RowList {
    let mut session = Session::new(
        vec![Tier::of(Arc::new(plan))],
        Limits::NONE,
        Options {
            in_document_order: false,
            in_parts: false,
            is_traced: false,
            is_live: false,
            cache_bytes_max: 32 << 20,
            questions_min: None,
        },
        Arc::new(Ledger::new(&Limits::NONE, None, None)),
    );
    session.begin(None, "default", DocumentId(0)).unwrap();
    for piece in DOCUMENT.chunks(piece_bytes) {
        session.feed(piece).unwrap();
    }
    session.finish().unwrap();
    let rows = session.take(0).spread();
    let row = |i: usize| {
        let value = rows.value.value(i).to_vec();
        (
            rows.subscription[i].0,
            rows.kind[i],
            value,
            rows.start[i],
            rows.end[i],
            rows.decided_at[i],
        )
    };
    (0..rows.len()).map(row).collect()
}

#[test]
fn the_programs_answer_what_they_ask() {
    let rows = run(plan_of(&[program(0), program(2), program(4)]), 1 << 16);
    let of = |subscription: u32| rows.iter().filter(move |row| row.0 == subscription);
    let kinds = [RowKind::Attribute as u8, RowKind::Element as u8];
    assert_eq!(of(0).map(|row| row.1).collect::<Vec<_>>(), kinds);
    assert_eq!(of(1).map(|row| row.2.clone()).collect::<Vec<_>>(), [b"2"]);
    assert_eq!(
        of(2).map(|row| row.2.clone()).collect::<Vec<_>>(),
        [b"true"]
    );
}

#[test]
fn equal_programs_share_a_target() {
    let alone = plan_of(&[program(1)]);
    let together = plan_of(&[program(1), program(1), program(1)]);
    assert_eq!(together.target_count(), 1);
    assert_eq!(
        together.target(TargetId(0)).1,
        [0, 1, 2].map(SubscriptionId)
    );
    assert_eq!(together.formula_count(), alone.formula_count());
    assert_eq!(together.spine_count(), alone.spine_count());
}

#[test]
fn an_image_is_the_plan() {
    let plan = plan_of(&(0..PROGRAMS.len()).map(program).collect::<Vec<_>>());
    let copy = Plan::from_words(plan.words().to_vec()).unwrap();
    assert_eq!(run(plan, 7), run(copy, 7));
}

#[test]
fn what_is_no_plan_is_refused() {
    let words = plan_of(&[program(0)]).words().to_vec();
    assert!(Plan::from_words(Vec::new()).is_err());
    assert!(Plan::from_words(words[..words.len() - 1].to_vec()).is_err());
    let mut other = words.clone();
    other[1] += 1;
    assert_eq!(
        Plan::from_words(other).err(),
        Some("the plan was made by another version")
    );
}

#[test]
fn a_cut_program_is_refused() {
    for index in 0..PROGRAMS.len() {
        let whole = program(index);
        for length in 0..whole.len() {
            assert!(
                Builder::new()
                    .add(SubscriptionId(0), Place(0), &whole[..length])
                    .is_err()
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_damaged_program_is_refused_or_runs(
        index in 0..PROGRAMS.len(),
        damage in proptest::collection::vec((4usize..200, any::<u8>()), 1..4),
        piece_bytes in 1usize..100,
    ) {
        let mut bytes = program(index);
        for (at, byte) in damage {
            let length = bytes.len();
            bytes[4 + at % (length - 4)] = byte;
        }
        let mut builder = Builder::new();
        if builder.add(SubscriptionId(0), Place(0), &bytes).is_ok() {
            run(builder.freeze(), piece_bytes);
        }
    }

    #[test]
    fn pieces_do_not_show(piece_bytes in 1usize..100) {
        let programs: Vec<_> = (0..PROGRAMS.len()).map(program).collect();
        prop_assert_eq!(run(plan_of(&programs), piece_bytes), run(plan_of(&programs), 1 << 16));
    }

    #[test]
    fn the_order_of_adding_does_not_show(order in Just((0..PROGRAMS.len()).collect::<Vec<_>>()).prop_shuffle()) {
        let rows = run(plan_of(&order.iter().map(|&i| program(i)).collect::<Vec<_>>()), 1 << 16);
        for (place, &index) in order.iter().enumerate() {
            let together: Vec<_> = rows.iter().filter(|row| row.0 == place as u32).map(|row| row.2.clone()).collect();
            let alone: Vec<_> = run(plan_of(&[program(index)]), 1 << 16).into_iter().map(|row| row.2).collect();
            prop_assert_eq!(together, alone);
        }
    }
}
