use super::*;
use crate::definition::{Holds, Rate, WhenFull};
use crate::time::Millis;

fn ask(concurrency: Option<u32>, rate: Option<Rate>) -> Ask {
    Ask {
        limit: LimitId::of(WorkspaceId::DEFAULT, None, "crm", ""),
        workflow: None,
        name: "crm".into(),
        key: "".into(),
        policy: Policy { concurrency, rate },
        slot: concurrency.is_some(),
        token: rate.is_some(),
        holds: Holds::Work,
        when_full: WhenFull::Queue,
        kept: false,
    }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(1_700_000_000_000 + ms).expect("an instant")
}

fn holder(run: u128) -> Holder {
    Holder { run: RunId(run), at: None, since: at(0) }
}

#[test]
fn a_limit_is_full_when_as_many_have_room_as_it_says_and_no_sooner() {
    let ask = ask(Some(2), None);
    let mut limit = Limit::new(WorkspaceId::DEFAULT, &ask, at(0), 1);
    for run in 0..2 {
        assert_eq!(limit.vacancy(&ask, at(0)), Vacancy::Now);
        limit.take(&ask, holder(run), at(0));
    }
    assert_eq!(limit.vacancy(&ask, at(0)), Vacancy::Full);
    limit.release(RunId(0), None);
    assert_eq!(limit.vacancy(&ask, at(0)), Vacancy::Now);
    assert_eq!(limit.holders.len(), 1);
    limit.release(RunId(1), None);
    limit.settle(at(0));
    assert!(limit.is_idle());
}

#[test]
fn a_rate_allows_a_burst_and_then_one_at_a_time_at_exact_instants() {
    let rate = Rate { count: 10, per: Millis(1_000), burst: 3 };
    let ask = ask(None, Some(rate));
    let mut limit = Limit::new(WorkspaceId::DEFAULT, &ask, at(0), 1);
    for _ in 0..3 {
        assert_eq!(limit.vacancy(&ask, at(0)), Vacancy::Now);
        limit.take(&ask, holder(1), at(0));
    }
    assert_eq!(limit.vacancy(&ask, at(0)), Vacancy::From(at(100)));
    assert_eq!(limit.vacancy(&ask, at(99)), Vacancy::From(at(100)));
    assert_eq!(limit.vacancy(&ask, at(100)), Vacancy::Now);
    assert!(!limit.is_idle());
    limit.waiting = 1;
    limit.settle(at(0));
    assert_eq!(limit.due_at, Some(at(100)));
    limit.waiting = 0;
    limit.settle(at(0));
    let kept = limits::RATE_KEPT.0.cast_signed();
    assert_eq!(limit.due_at, Some(at(300 + kept)), "it is forgotten when the rate has nothing more to say");
    limit.settle(at(299 + kept));
    assert!(!limit.is_idle(), "a clock may go back");
    limit.settle(at(300 + kept));
    assert!(limit.is_idle());
}

#[test]
fn within_any_window_a_rate_allows_no_more_than_it_says_and_the_burst() {
    let rate = Rate { count: 7, per: Millis(1_000), burst: 3 };
    let ask = ask(None, Some(rate));
    let mut limit = Limit::new(WorkspaceId::DEFAULT, &ask, at(0), 1);
    let mut taken = Vec::new();
    let mut random = crate::random::Random::new(7);
    let mut now = 0;
    while taken.len() < 2_000 {
        now += i64::try_from(random.draw() % 40).expect("small");
        limit.settle(at(now));
        while limit.vacancy(&ask, at(now)) == Vacancy::Now {
            limit.take(&ask, holder(1), at(now));
            taken.push(now);
        }
    }
    for (index, first) in taken.iter().enumerate() {
        let within = taken[index..].iter().take_while(|next| **next < first + 1_000).count();
        assert!(within < 7 + 3, "{within} in the second from {first}");
    }
    let elapsed = taken.last().expect("some") - taken[0];
    assert!(taken.len() as i64 >= elapsed * 7 / 1_000, "it is not slower than it must be either");
}

#[test]
fn a_level_of_priority_is_worth_a_minute_and_nobody_is_overtaken_for_more_than_nine() {
    let early = Rank::of(at(0), 0);
    assert!(Rank::of(at(59_999), 1) < early);
    assert!(Rank::of(at(60_001), 1) > early);
    assert!(Rank::of(at(9 * 60_000 + 1), 9) > early);
    assert!(Rank::of(at(0), 200) == Rank::of(at(0), 9));
    assert_eq!(early.to_string().parse(), Ok(early));
}

#[test]
fn the_newest_run_says_how_much_room_there_is() {
    let two = ask(Some(2), None);
    let mut limit = Limit::new(WorkspaceId::DEFAULT, &two, at(10), 1);
    assert!(!limit.hear(Policy { concurrency: Some(1), rate: None }, at(9)), "an older version is not asked");
    assert!(limit.hear(Policy { concurrency: Some(3), rate: None }, at(11)));
    assert_eq!(limit.policy.concurrency, Some(3));
}

#[test]
fn as_many_are_replaced_as_are_in_the_way() {
    let one = ask(Some(1), None);
    let mut limit = Limit::new(WorkspaceId::DEFAULT, &one, at(0), 1);
    assert_eq!(limit.replaced().count(), 0);
    limit.take(&one, holder(4), at(0));
    assert_eq!(limit.replaced().collect::<Vec<_>>(), [RunId(4)]);
}
