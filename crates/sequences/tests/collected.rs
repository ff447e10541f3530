//! Items that are written while a document is read, and put in their place at its end.

mod support;

use penstock_sequences::code::Code;
use penstock_sequences::eval::{Collected, Evaluation};
use penstock_sequences::tree::Forest;
use std::rc::Rc;
use support::builder::{Builder, FOR};

#[test]
fn collected_items_are_written_as_if_they_were_there() {
    let b = Builder::default();
    let source = b.path(b.root(), "r/a");
    let new = b.element(&["n"], &[], &[b.path(b.item(0), "@k")]);
    let parts = [
        new,
        b.item(0),
        b.path(b.item(0), "text()"),
        b.integer(7),
        b.integer(8),
    ];
    let gathered = b.flwor(&[&[FOR, 0, source]], b.sequence(&parts));
    let whole = b.element(&["", "o", "urn:o"], &[], &[gathered]);
    let document = "<r xmlns:p='urn:p'><a k='1'>x</a><a k='2'>y</a></r>";
    let expected = support::value(&b, whole, document);
    assert_eq!(expected.matches("xmlns=\"\"").count(), 4);

    let rest = b.element(&["", "o", "urn:o"], &[], &[b.expr(&[4, 0], None)]);
    let mut forest = Forest::default();
    support::document::read(document, &mut forest);
    let evaluation = |body: u32, forest: &mut Forest| {
        let code = Code::read(&b.code(body), &mut forest.names).expect("the code is right");
        Evaluation::new(Rc::new(code), support::settings())
    };
    let mut collected = Collected::default();
    let mut first = evaluation(gathered, &mut forest);
    let done = first.collect(0, None, &mut forest, &mut |_| {}, &mut collected);
    done.expect("there is a value");
    assert_eq!(collected.len(), 10);

    // The document is gone, and so are the nodes that were built.
    forest.clear();
    let items = collected.finish(&mut forest);
    let mut last = evaluation(rest, &mut forest);
    last.set_gathered(0, Ok(items));
    let mut found = String::new();
    let rows = last.rows(0, None, &mut forest, &mut |_| {}, &mut |row| {
        found = String::from_utf8_lossy(row.value).into_owned();
    });
    rows.expect("there is a value");
    assert_eq!(found, expected);
}
