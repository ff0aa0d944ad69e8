//! The waitpoints that a history has opened so far, as far as sentences speak of them.

use std::collections::{HashMap, HashSet};

use crate::history::{Change, Record};
use crate::json::Json;
use crate::waitpoint::{ListensFor, TakenEvent, Waitpoint};

/// Waitpoints by number, without the payloads that they hold.
#[derive(Debug, Default)]
pub struct KnownWaits(HashMap<u32, Waitpoint>);

impl KnownWaits {
    /// Takes in what a record says about waitpoints. Records must come in their order.
    pub fn read(&mut self, change: &Change) {
        for wait in change.opens() {
            self.0.insert(wait.number, without_payloads(wait));
        }
        if let Change::EventMatched { number, event, received_at } = change
            && let Some(wait) = self.0.get_mut(number)
        {
            wait.event = Some(TakenEvent { id: *event, received_at: *received_at });
        }
        if let Change::WaitRescheduled { number, resume_at } = change
            && let Some(wait) = self.0.get_mut(number)
        {
            wait.resume_at = Some(*resume_at);
        }
    }

    /// The waitpoint of this number, if the history has opened it so far.
    pub fn get(&self, number: u32) -> Option<&Waitpoint> {
        self.0.get(&number)
    }

    /// How many waitpoints are known.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no waitpoint is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether these records, which come next, speak of a waitpoint that is neither known nor begins in them.
    pub fn lacks_some_of(&self, records: &[Record]) -> bool {
        let opened = records.iter().flat_map(|record| record.change.opens()).map(|wait| wait.number);
        let opened: HashSet<u32> = opened.collect();
        let mut spoken = records.iter().flat_map(|record| record.change.speaks_of());
        spoken.any(|number| !self.0.contains_key(&number) && !opened.contains(&number))
    }
}

fn without_payloads(wait: &Waitpoint) -> Waitpoint {
    let mut wait = Waitpoint { response_to_send: None, resume_payload: None, ..wait.clone() };
    match &mut wait.listens_for {
        ListensFor::Event(filter) => filter.bound.clear(),
        ListensFor::Approval(request) => {
            request.content = Json::null();
            request.content_schema = None;
            request.prompt = None;
        }
        ListensFor::Time
        | ListensFor::Signal { .. }
        | ListensFor::Call { .. }
        | ListensFor::Child { .. }
        | ListensFor::Attempt(_)
        | ListensFor::Code(_)
        | ListensFor::Capacity(_)
        | ListensFor::Starts(_) => {}
    }
    wait
}
