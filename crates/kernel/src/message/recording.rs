//! The rows of a table: the records of a region, each with its cells.

use super::binding::too_many;
use super::evaluating::{Evaluating, Failure, Gathered, meter};
use super::member::Task;
use crate::ids::SubscriptionId;
use crate::ledger::steps_of_copy;
use crate::rows::{RowHead, RowKind, Rows};
use crate::tabular::{Layout, Misfit, Outcome, Writing};
use penstock_sequences::error::Error;
use penstock_sequences::tree::{NodeId, NodeRef};

/// How far the records of a region were written.
enum Written {
    All,
    /// A record has to wait for what may follow.
    Waits,
    /// Further records have no row, since the document has as many results as it may.
    Beyond,
}

impl Evaluating {
    /// Writes a row for each record of a region, or none if a record has to wait.
    pub(super) fn record(
        &mut self,
        layout: &Layout,
        nodes: &[NodeId],
        subscriptions: &[SubscriptionId],
        task: &mut Task<'_>,
    ) -> Result<Gathered, Failure> {
        if nodes.is_empty() {
            return Ok(Gathered::Done);
        }
        let before = (task.rows.len(), task.rows.value.bytes.len());
        let ordinal = self.ordinal;
        let recorded = self.write_records(layout, nodes, subscriptions, task);
        let Task { account, rows, .. } = task;
        if matches!(recorded, Ok(Written::Waits) | Err(_)) {
            rows.truncate(before.0);
            self.ordinal = ordinal;
        }
        account.add_rows(rows.len() - before.0, rows.value.bytes.len() - before.1);
        let error = match recorded {
            Ok(Written::All) => return Ok(Gathered::Done),
            Ok(Written::Waits) => return Ok(Gathered::Waits),
            Ok(Written::Beyond) => too_many(self.results_max),
            Err(misfit) => error_of(&misfit),
        };
        Err(Failure { error, byte: 0 })
    }

    fn write_records(
        &mut self,
        layout: &Layout,
        nodes: &[NodeId],
        subscriptions: &[SubscriptionId],
        task: &mut Task<'_>,
    ) -> Result<Written, Misfit> {
        let mut meter = meter(task.account);
        let mut writing = Writing {
            layout,
            forest: &mut self.forest,
            meter: &mut meter,
        };
        let Some(records) = writing.records(nodes) else {
            return Ok(Written::Waits);
        };
        for record in records {
            if self.ordinal >= self.results_max {
                return Ok(Written::Beyond);
            }
            let Rows { value, .. } = &mut *task.rows;
            let start = value.bytes.len();
            if writing.row(record, &mut value.bytes)? == Outcome::Waits {
                return Ok(Written::Waits);
            }
            let end = value.bytes.len();
            let tree = writing.forest.tree(NodeRef::of_document(record));
            let span = tree.span(record);
            let is_open = tree.is_open(record);
            let mut head = RowHead {
                document: task.document,
                subscription: SubscriptionId(0),
                ordinal: self.ordinal,
                kind: RowKind::Record,
                span: (!is_open).then_some((span.0, Some(span.1))),
                decided_at: task.at,
                node: self.ordinal,
            };
            for (place, &subscription) in subscriptions.iter().enumerate() {
                if place > 0 {
                    (writing.meter)(steps_of_copy(end - start));
                    task.rows.value.bytes.extend_from_within(start..end);
                }
                head.subscription = subscription;
                task.rows.push(head, b"", None);
            }
            self.ordinal += 1;
        }
        Ok(Written::All)
    }
}

fn error_of(misfit: &Misfit) -> Error {
    let Misfit {
        column,
        value,
        reason,
    } = misfit;
    Error::new(
        "FORG0001",
        format!("column `{column}`: `{value}` is {reason}"),
    )
}
