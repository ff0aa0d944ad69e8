//! R5 Events reach those who wait for them: in the order they began to wait, and all or one of them.

use abide_core::command::Event;
use abide_core::fan_out::{Room, Waiter, give, line_up, offer};
use abide_core::id::WaitpointId;
use abide_core::id::{EventUid, WorkspaceId};
use serde_json::json;

use crate::scenario::*;

/// Room for so many comparisons.
struct Comparisons(usize);

impl Room for Comparisons {
    fn is_out(&self) -> bool {
        self.0 == 0
    }

    fn compared(&mut self, _: usize) {
        self.0 = self.0.saturating_sub(1);
    }

    fn given(&mut self) {}
}

const ENOUGH: usize = 1_000;

/// A run that waits twice for the same event, side by side; its second wait takes only what is for Ana.
fn waiting() -> Scenario {
    let ana = json!({ "match": "event.to == 'ana'" });
    start(json!([event("any", "mail").after(&[]), event("ana", "mail").after(&[]).also(ana)]))
}

fn waiters(run: &Scenario) -> Vec<Waiter> {
    Waiter::of_run(run.run(), "mail", 0).collect()
}

fn mail(run: &Scenario, to: &str) -> Event {
    Event {
        id: EventUid(1),
        workspace: WorkspaceId::DEFAULT,
        event_id: "mail".into(),
        data: json!({ "to": to }).into(),
        received_at: run.now,
        run: None,
    }
}

#[test]
fn r05_every_open_wait_of_a_run_is_a_candidate_and_no_other() {
    let mut run = start(json!([
        event("first", "mail").after(&[]),
        event("other", "call").after(&[]),
        sleep("nap", "1d").after(&[]),
        event("second", "mail").after(&[])
    ]));
    let numbers = |run: &Scenario| waiters(run).iter().map(|it| it.waitpoint.number).collect::<Vec<_>>();
    let (first, second) = (run.wait("first"), run.wait("second"));
    assert_eq!(numbers(&run), [first, second]);
    run.steer("first", abide_core::command::Steering::Cancel);
    assert!(!numbers(&run).contains(&first));
}

#[test]
fn r05_whoever_has_waited_longest_comes_first_whatever_its_number() {
    let (early, late) = (waiting(), plan(json!([event("e", "mail")])).at("2020-01-01T00:00:00Z").start());
    let mixed: Vec<Waiter> =
        waiters(&early).into_iter().chain(waiters(&late)).chain(waiters(&early)).collect();
    let line = line_up(mixed);
    assert_eq!(line.len(), 3, "each stands in line once");
    assert_eq!(line[0], waiters(&late)[0]);
    assert!(line.is_sorted_by_key(Waiter::position));
}

#[test]
fn r05_only_those_whose_filter_accepts_it_take_an_event() {
    let run = waiting();
    let for_bob = offer(&mail(&run, "bob"), &waiters(&run), false, &mut Comparisons(ENOUGH));
    let any = run.run().waitpoint_id(run.wait("any"));
    assert_eq!((for_bob.takers, for_bob.is_all), (vec![any], true));
    let for_ana = offer(&mail(&run, "ana"), &waiters(&run), false, &mut Comparisons(ENOUGH));
    assert_eq!(for_ana.takers.len(), 2);
}

#[test]
fn r05_what_was_received_before_the_lookback_of_a_wait_is_not_for_it() {
    let run = waiting();
    let long_ago = Event { received_at: instant("2000-01-01T00:00:00Z"), ..mail(&run, "ana") };
    let offered = offer(&long_ago, &waiters(&run), false, &mut Comparisons(ENOUGH));
    assert_eq!((offered.takers.len(), offered.is_all), (0, true));
}

#[test]
fn r05_where_the_room_ends_is_said_so_that_a_later_round_goes_on_there() {
    let run = waiting();
    let all = waiters(&run);
    // Whoever takes it is compared with it twice.
    let begun = offer(&mail(&run, "ana"), &all, false, &mut Comparisons(2));
    assert_eq!((begun.takers.len(), begun.is_all), (1, false));
    let after = begun.up_to.expect("one was compared").1.number;
    let rest: Vec<Waiter> = Waiter::of_run(run.run(), "mail", after).collect();
    let rest = offer(&mail(&run, "ana"), &rest, false, &mut Comparisons(ENOUGH));
    assert_eq!((rest.takers, rest.is_all), (vec![all[1].waitpoint], true));
}

#[test]
fn r05_an_event_for_one_is_compared_up_to_the_first_that_accepts_it() {
    let run = waiting();
    let all = waiters(&run);
    let mut room = Comparisons(ENOUGH);
    let offered = offer(&mail(&run, "ana"), &all, true, &mut room);
    assert_eq!((offered.takers, offered.compared, offered.is_all), (vec![all[0].waitpoint], 1, true));
    assert_eq!(room.0, ENOUGH - 2, "whoever takes it compares it once more, and nobody else does");
}

#[test]
fn r05_an_event_for_all_goes_to_each_and_one_for_one_to_the_first_that_takes_it() {
    let run = waiting();
    let takers: Vec<_> = waiters(&run).iter().map(|waiter| waiter.waitpoint).collect();
    let give = |one: bool, take: &mut dyn FnMut(WaitpointId) -> Result<bool, &'static str>| {
        let mut took = Vec::new();
        let given = give(&takers, one, &mut took, take);
        (took, given)
    };
    assert_eq!(give(false, &mut |_| Ok(true)), (takers.clone(), Ok(())));
    let mut asked = Vec::new();
    let (took, _) = give(true, &mut |taker| {
        asked.push(taker);
        Ok(taker != takers[0])
    });
    assert_eq!((took, asked), (vec![takers[1]], takers.clone()), "the first one had been cancelled");
    let mut asked = 0;
    let _ = give(true, &mut |_| {
        asked += 1;
        Ok(true)
    });
    assert_eq!(asked, 1, "nobody is asked after the one that took it");
    let (took, given) =
        give(false, &mut |taker| if taker == takers[0] { Ok(true) } else { Err("unreadable") });
    assert_eq!((took, given), (vec![takers[0]], Err("unreadable")), "what was taken before is known");
}
