//! `/v2/flowControl`: flow control keys, as limits of the workspace. What clients pause or pin are settings of the limit, which
//! stand above what messages say.

use abide_core::capacity::{Limit, Policy, Setting, SettingChange};
use abide_core::definition::Rate;
use abide_core::id::LimitId;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_engine::LimitOrder;
use abide_engine::stored::Page;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Answer, GuestRequest, Problem, Query, decoded, ok};
use crate::throttle::{FLOW, MOST_AT_ONCE, MOST_IN_A_TIME};
use crate::{DELIVERIES, Gateway, duration};

/// How many keys are listed.
const LISTED: usize = 1_000;

pub(super) async fn answer(gateway: &Gateway, asked: &GuestRequest, method: &str, rest: &str) -> Answer {
    let (key, act) = rest.split_once('/').map_or((rest, ""), |(key, act)| (key, act));
    let key = decoded(key);
    let query = asked.query();
    let change = match (method, key.as_str(), act) {
        ("GET", "", "") => return list(gateway).await,
        ("GET", _, "") => return get(gateway, &key).await,
        ("POST", "", _) => return Err(asked.not_served()),
        ("POST", _, "pause") => SettingChange { paused: Some(true), ..SettingChange::default() },
        ("POST", _, "resume") => SettingChange { paused: Some(false), ..SettingChange::default() },
        ("POST", _, "pin") => pinned(&query)?,
        ("POST", _, "unpin") => unpinned(&query),
        (_, _, _) => return Err(asked.not_served()),
    };
    let order = LimitOrder { workflow: None, name: FLOW.into(), key: Some(key.into()), change };
    gateway.workspace().limits().set(order, Actor::new("upstash")).await?;
    ok(json!({}))
}

/// How many deliveries are under way on this node, and how many may be.
pub(super) fn global(gateway: &Gateway) -> Answer {
    let free = gateway.room.available_permits();
    ok(json!({ "parallelismMax": DELIVERIES, "parallelismCount": DELIVERIES.saturating_sub(free) }))
}

fn pinned(query: &Query) -> Result<SettingChange, Problem> {
    let number = |name: &str, most: u32| match query.get(name) {
        None => Ok(None),
        Some(text) => match text.parse::<u32>().ok().filter(|number| (1..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(Problem::bad(format!("`{name}` is a whole number from 1 to {most}"))),
        },
    };
    let concurrency = number("parallelism", MOST_AT_ONCE)?;
    let period = match query.get("period") {
        None => Millis(1_000),
        Some(text) => duration::parse(text)
            .filter(|period| period.0 > 0)
            .ok_or_else(|| Problem::bad(format!("`{text}` is not a period such as `60` or `1m`")))?,
    };
    let rate = number("rate", MOST_IN_A_TIME)?.map(|count| Rate { count, per: period, burst: 1 });
    if concurrency.is_none() && rate.is_none() {
        return Err(Problem::bad("a pin has a `parallelism`, a `rate`, or both"));
    }
    Ok(SettingChange { concurrency: concurrency.map(Some), rate: rate.map(Some), paused: None })
}

/// What is named goes back to what messages say; if nothing is named, everything does.
fn unpinned(query: &Query) -> SettingChange {
    let names = |name: &str| query.get(name) == Some("true");
    let is_all = !names("parallelism") && !names("rate");
    SettingChange {
        concurrency: (is_all || names("parallelism")).then_some(None),
        rate: (is_all || names("rate")).then_some(None),
        paused: None,
    }
}

async fn list(gateway: &Gateway) -> Answer {
    let page = Page { after: None, limit: LISTED };
    let limits = gateway.workspace().limits().list(Some(FLOW.to_owned()), page).await?;
    let now = gateway.engine.now();
    ok(limits.iter().map(|limit| shown(&limit.key, Some(limit), limit.setting, now)).collect())
}

async fn get(gateway: &Gateway, key: &str) -> Answer {
    let workspace = gateway.workspace();
    let limit = workspace.limits().get(LimitId::of(workspace.id(), None, FLOW, key)).await?;
    // A key that nobody is under is forgotten; what is set for it is not.
    let setting = match &limit {
        Some(limit) => limit.setting,
        None => {
            let settings = workspace.limits().settings(Some(FLOW.to_owned())).await?;
            let shared = settings.iter().find(|settings| settings.workflow.is_none());
            shared.map(|settings| settings.of_key(key)).unwrap_or_default()
        }
    };
    ok(shown(key, limit.as_ref(), setting, gateway.engine.now()))
}

fn shown(key: &str, limit: Option<&Limit>, setting: Setting, now: Timestamp) -> Value {
    let Policy { concurrency, rate } = setting.over(limit.map(|limit| limit.policy).unwrap_or_default());
    let begun = rate.map_or(0, |rate| begun(rate, limit.and_then(|limit| limit.arrival), now));
    json!({
        "flowControlKey": key,
        "waitListSize": limit.map_or(0, |limit| limit.waiting),
        "parallelismMax": concurrency.unwrap_or(0),
        "parallelismCount": limit.map_or(0, |limit| limit.used),
        "rateMax": rate.map_or(0, |rate| rate.count),
        "rateCount": begun,
        "ratePeriod": rate.map_or(0, |rate| rate.per.0 / 1_000),
        // A rate has no periods here: what was used comes back little by little.
        "ratePeriodStart": if begun > 0 { now.as_second() } else { 0 },
        "isPaused": setting.paused,
        "isPinnedParallelism": setting.concurrency.is_some(),
        "isPinnedRate": setting.rate.is_some(),
    })
}

/// How much of a rate is used up: the arrival of the next one is as far ahead.
fn begun(rate: Rate, arrival: Option<Timestamp>, now: Timestamp) -> u64 {
    let ahead_ms = arrival.map_or(0, |arrival| arrival.as_millisecond() - now.as_millisecond());
    let ahead_ms = u64::try_from(ahead_ms).unwrap_or(0);
    (ahead_ms * u64::from(rate.count)).div_ceil(rate.per.0.max(1)).min(u64::from(rate.count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    #[test]
    fn a_pin_says_how_much_room_there_is_and_unpinning_takes_it_back() {
        let rate = Rate { count: 20, per: Millis(120_000), burst: 1 };
        let both = pinned(&query("parallelism=3&rate=20&period=120")).unwrap();
        let wanted = SettingChange { concurrency: Some(Some(3)), rate: Some(Some(rate)), paused: None };
        assert_eq!(both, wanted);
        for bad in ["", "period=10", "parallelism=0", "rate=x"] {
            assert!(pinned(&query(bad)).is_err(), "{bad}");
        }
        let all = SettingChange { concurrency: Some(None), rate: Some(None), paused: None };
        assert_eq!(unpinned(&query("")), all);
        assert_eq!(unpinned(&query("parallelism=true")), SettingChange { rate: None, ..all });
    }

    #[test]
    fn what_is_used_of_a_rate_is_how_far_ahead_the_next_arrival_is() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let rate = Rate { count: 10, per: Millis(60_000), burst: 1 };
        let after = |ms: u64| begun(rate, Some(Millis(ms).after(now)), now);
        assert_eq!([begun(rate, None, now), after(0), after(6_000), after(12_001)], [0, 0, 1, 3]);
    }
}
