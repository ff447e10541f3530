//! What asking costs, and what the operators of other strategies than the default cost.

use penstock_broker::Broker;
use std::time::Duration;

/// Time since somebody asked.
#[derive(Debug, Default)]
pub struct Costs {
    /// Up to the nodes and lists of all messages.
    pub asking: Duration,
    /// Writing messages, and saying who gets them.
    pub messages: Duration,
}

impl Costs {
    /// Takes all costs, with those of the operators.
    pub fn take<'b>(
        &mut self,
        brokers: impl Iterator<Item = &'b mut Broker>,
    ) -> Vec<(&'static str, Duration)> {
        let own = std::mem::take(self);
        let mut costs = vec![("asking", own.asking), ("messages", own.messages)];
        for operators in brokers.filter_map(Broker::operators) {
            for (name, cost) in operators.take_costs() {
                match costs.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, total)) => *total += cost,
                    None => costs.push((name, cost)),
                }
            }
        }
        costs
    }
}
