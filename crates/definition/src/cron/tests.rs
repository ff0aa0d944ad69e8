use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn cron(line: &str, zone: &str) -> Cron {
    Cron::parse(line, Some(zone)).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The next `count` times after the instant.
fn times(cron: &Cron, after: &str, count: usize) -> Vec<String> {
    std::iter::successors(cron.next_after(at(after)), |last| cron.next_after(*last))
        .take(count)
        .map(|time| time.to_string())
        .collect()
}

#[test]
fn the_next_time_is_strictly_later() {
    let noon = cron("0 12 * * *", "UTC");
    assert_eq!(times(&noon, "2026-03-01T11:59:59.999Z", 1), ["2026-03-01T12:00:00Z"]);
    assert_eq!(times(&noon, "2026-03-01T12:00:00Z", 1), ["2026-03-02T12:00:00Z"]);
    assert_eq!(times(&noon, "2026-03-01T12:00:00.001Z", 1), ["2026-03-02T12:00:00Z"]);
}

#[test]
fn five_fields_are_minutes_and_six_are_seconds() {
    assert_eq!(times(&cron("*/20 * * * *", "UTC"), "2026-03-01T00:00:00Z", 1), ["2026-03-01T00:20:00Z"]);
    assert_eq!(times(&cron("*/20 * * * * *", "UTC"), "2026-03-01T00:00:00Z", 1), ["2026-03-01T00:00:20Z"]);
    assert_eq!(times(&cron("@monthly", "UTC"), "2026-03-01T00:00:00Z", 1), ["2026-04-01T00:00:00Z"]);
    assert_eq!(times(&cron("0 9 * * mon-fri", "UTC"), "2026-03-06T12:00:00Z", 1), ["2026-03-09T09:00:00Z"]);
    assert_eq!(times(&cron("0 9 L * *", "UTC"), "2026-02-06T12:00:00Z", 1), ["2026-02-28T09:00:00Z"]);
}

#[test]
fn a_time_is_one_of_its_zone() {
    let nine = cron("0 9 * * *", "Europe/Berlin");
    assert_eq!(times(&nine, "2026-01-15T12:00:00Z", 1), ["2026-01-16T08:00:00Z"]);
    assert_eq!(times(&nine, "2026-07-15T12:00:00Z", 1), ["2026-07-16T07:00:00Z"]);
}

#[test]
fn a_time_in_the_hour_that_is_left_out_comes_once_when_that_hour_is_over() {
    // 2026-03-29 in Berlin: 02:00 becomes 03:00, which is 01:00 UTC.
    for line in ["30 2 * * *", "0 2 * * *", "0,30 2 * * *", "*/15 2 * * *", "59 59 2 * * *"] {
        let next = times(&cron(line, "Europe/Berlin"), "2026-03-28T12:00:00Z", 2);
        assert_eq!(next[0], "2026-03-29T01:00:00Z", "{line}");
        assert!(next[1].starts_with("2026-03-30T00:"), "{line}: {next:?}");
    }
}

#[test]
fn a_line_for_every_hour_does_not_come_again_for_the_hour_that_is_left_out() {
    assert_eq!(
        times(&cron("30 * * * *", "Europe/Berlin"), "2026-03-29T00:00:00Z", 3),
        ["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z"]
    );
    assert_eq!(
        times(&cron("0 */2 * * *", "Europe/Berlin"), "2026-03-28T22:30:00Z", 3),
        ["2026-03-28T23:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"]
    );
}

#[test]
fn a_midnight_that_is_left_out_comes_at_one() {
    // 2026-04-24 in Cairo begins at 01:00.
    let midnight = cron("0 0 * * *", "Africa/Cairo");
    assert_eq!(times(&midnight, "2026-04-23T12:00:00Z", 2), ["2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"]);
}

#[test]
fn a_day_that_is_left_out_comes_at_the_start_of_the_next() {
    // Samoa went over the date line: there was no 30 December 2011.
    let noon = cron("0 12 30 12 *", "Pacific/Apia");
    assert_eq!(times(&noon, "2011-12-01T00:00:00Z", 1), ["2011-12-30T10:00:00Z"]);
}

#[test]
fn a_time_in_the_hour_that_comes_twice_comes_the_first_time_only() {
    // 2026-10-25 in Berlin: 03:00 becomes 02:00, which is 01:00 UTC.
    assert_eq!(
        times(&cron("30 2 * * *", "Europe/Berlin"), "2026-10-24T12:00:00Z", 2),
        ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    );
    assert_eq!(
        times(&cron("0,30 2 * * *", "Europe/Berlin"), "2026-10-24T12:00:00Z", 3),
        ["2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"]
    );
    for within in
        ["2026-10-25T00:30:00Z", "2026-10-25T00:45:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:15:00Z"]
    {
        let next = times(&cron("30 2 * * *", "Europe/Berlin"), within, 1);
        assert_eq!(next, ["2026-10-26T01:30:00Z"], "after {within}");
    }
}

#[test]
fn a_rhythm_goes_on_through_the_hour_that_comes_twice() {
    assert_eq!(
        times(&cron("*/30 * * * *", "Europe/Berlin"), "2026-10-24T23:30:00Z", 5),
        [
            "2026-10-25T00:00:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:00:00Z",
            "2026-10-25T01:30:00Z",
            "2026-10-25T02:00:00Z"
        ]
    );
    assert_eq!(
        times(&cron("10 * * * *", "Europe/Berlin"), "2026-10-24T23:30:00Z", 3),
        ["2026-10-25T00:10:00Z", "2026-10-25T01:10:00Z", "2026-10-25T02:10:00Z"]
    );
    assert_eq!(
        times(&cron("*/30 2 * * *", "Europe/Berlin"), "2026-10-25T00:30:00Z", 3),
        ["2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:00:00Z"]
    );
}

#[test]
fn a_line_that_never_comes_is_refused() {
    for line in ["0 0 31 4 *", "0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31 * +1#1", "0 0 * * L"] {
        assert_eq!(Cron::parse(line, None).unwrap_err(), CronError::Never, "{line}");
    }
    assert!(Cron::parse("0 0 29 2 *", None).is_ok());
}

#[test]
fn a_bad_line_says_which_field_and_why() {
    for (line, expected) in [
        ("", "0 fields"),
        ("* * * *", "4 fields"),
        ("* * * * * * *", "7 fields"),
        ("60 * * * *", "the minute `60`: number out of bounds"),
        ("* 24 * * *", "the hour `24`: number out of bounds"),
        ("* * 0 * *", "the day of the month `0`: number out of bounds"),
        ("* * * 13 *", "the month `13`: number out of bounds"),
        ("* * * * 8", "the weekday `8`: number out of bounds"),
        ("*/0 * * * *", "the minute `*/0`: step cannot be zero"),
        ("5-1 * * * *", "the minute `5-1`: range out of bounds"),
        (", * * * *", "the minute `,`: an empty entry"),
        ("1,,2 * * * *", "the minute `1,,2`: an empty entry"),
        ("0 0 1 * +", "the weekday `+`: an empty entry"),
        ("0 0 1FEB * *", "the day of the month `1FEB`: `1FEB` means nothing there"),
        ("0 0 * MON *", "the month `MON`: `MON` means nothing there"),
        ("0 0 * * JAN", "the weekday `JAN`: `JAN` means nothing there"),
        ("0 0 * * 1SUN", "`1SUN` means nothing there"),
        ("@fortnightly", "1 fields"),
        ("0 0 * * ſun", "not ASCII"),
        (&"1,".repeat(600), "the limit is 1000"),
    ] {
        let Err(CronError::BadLine(message)) = Cron::parse(line, None) else { panic!("{line}") };
        assert!(message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn an_unknown_zone_comes_with_the_nearest_known_one() {
    for (given, nearest) in [
        ("Europe/Berln", Some("Europe/Berlin")),
        ("berlin", Some("Europe/Berlin")),
        ("America/New York", Some("America/New_York")),
        ("Etc/Unknown", None),
        ("", None),
    ] {
        let error = Cron::parse("0 0 * * *", Some(given)).unwrap_err();
        let CronError::UnknownZone { nearest: found } = error else { panic!("{given}: {error}") };
        assert!(nearest.is_none() || found.as_deref() == nearest, "{given}: {found:?}");
    }
    assert_eq!(cron("0 0 * * *", "europe/berlin").zone_name(), "Europe/Berlin");
    assert_eq!(Cron::parse(" 0 0 * * * ", None).unwrap().line(), "0 0 * * *");
    assert_eq!(Cron::parse("0 0 * * *", None).unwrap().zone_name(), "UTC");
}

#[test]
fn the_ends_of_time_have_no_next_time_and_do_no_harm() {
    for zone in ["UTC", "Europe/Berlin", "Pacific/Apia", "Africa/Cairo"] {
        let minutely = cron("* * * * *", zone);
        assert_eq!(minutely.next_after(Timestamp::MAX), None);
        assert!(minutely.next_after(Timestamp::MIN).is_some_and(|next| next > Timestamp::MIN));
    }
}

#[test]
fn the_search_is_quick_for_every_line() {
    let started = Instant::now();
    for line in
        ["59 59 23 29 2 +1", "0 0 31 * +1#1", "0 0 31 4 *", "0-59 0-59 2 * * *", "0 0 29 2 +1#5", "0 0 * * L"]
    {
        for _ in 0..5 {
            if let Ok(cron) = Cron::parse(line, Some("Europe/Berlin")) {
                times(&cron, "2026-10-25T00:30:00Z", 3);
                times(&cron, "2096-03-01T00:30:00Z", 1);
                times(&cron, "4999-12-31T00:30:00Z", 1);
            }
        }
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

/// All times of a line within two days of an instant, found by looking at every minute of the wall clock.
fn times_by_looking(cron: &Schedule, around: Timestamp) -> Vec<Timestamp> {
    let first = cron.zone.to_datetime(around).start_of_day().checked_sub(2.days()).unwrap();
    let mut times = Vec::new();
    for minute in 0..5 * 24 * 60 {
        let civil = first.checked_add(minute.minutes()).unwrap();
        if !cron.rule.is_time_matching(&civil).unwrap() {
            continue;
        }
        match cron.zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => times.push(offset.to_timestamp(civil).unwrap()),
            AmbiguousOffset::Fold { before, after } => {
                times.push(before.to_timestamp(civil).unwrap());
                times.extend(cron.is_rhythm.then(|| after.to_timestamp(civil).unwrap()));
            }
            AmbiguousOffset::Gap { before, .. } if !cron.is_every_hour => {
                let past = before.to_timestamp(civil).unwrap() + 1.second();
                times.push(cron.zone.preceding(past).next().unwrap().timestamp());
            }
            AmbiguousOffset::Gap { .. } => {}
        }
    }
    times.sort();
    times
}

#[test]
fn the_search_finds_what_looking_at_every_minute_finds() {
    // An hour at two, half an hour, two hours, at midnight, and none.
    let turns = [
        ("Europe/Berlin", ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]),
        ("Australia/Lord_Howe", ["2026-10-03T15:30:00Z", "2026-04-04T15:00:00Z"]),
        ("Antarctica/Troll", ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]),
        ("America/Havana", ["2026-03-08T05:00:00Z", "2026-11-01T05:00:00Z"]),
        ("Asia/Tokyo", ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]),
    ];
    let lines = [
        "30 2 * * *",
        "0 0 * * *",
        "15,45 0-4 * * *",
        "*/20 1-3 * * *",
        "7 * * * *",
        "*/7 * * * *",
        "0 */2 * * *",
        "59 23 * * *",
        "45 1 * * *",
        "0 3 * * SUN",
        "30 2 29 3 *",
    ];
    for (zone, turns) in turns {
        for line in lines {
            let cron = cron(line, zone);
            for turn in turns.map(at) {
                let expected = times_by_looking(&cron.schedule, turn);
                for minutes in (-400_i64..400).step_by(5) {
                    let from = turn + minutes.minutes() + 1.second() * (minutes % 3);
                    let next = expected.iter().find(|time| **time > from);
                    if next.is_some() {
                        assert_eq!(cron.next_after(from).as_ref(), next, "{line} in {zone} after {from}");
                    }
                }
            }
        }
    }
}

#[test]
fn whatever_is_accepted_has_a_later_next_time_and_nothing_panics() {
    let field = "[0-9*?,/#LW+-]{1,6}|\\*|[0-9]{1,2}|SUN|JAN|@daily";
    let line = proptest::collection::vec(field, 4..8);
    let zone = proptest::sample::select(vec!["UTC", "Europe/Berlin", "America/Havana", "Pacific/Apia"]);
    let seconds = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
    proptest!(|(line in line, zone in zone, seconds in seconds)| {
        let started = Instant::now();
        let instant = Timestamp::from_second(seconds).unwrap();
        if let Ok(cron) = Cron::parse(&line.join(" "), Some(zone)) {
            prop_assert!(cron.next_after(instant).is_none_or(|next| next > instant));
        }
        prop_assert!(started.elapsed() < Duration::from_secs(1));
    });
}
