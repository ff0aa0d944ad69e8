use abide_definition::problem::Code;

use super::{assert_is, problem, problem_of_steps, warnings};

const DAY_MS: u64 = 86_400_000;

#[test]
fn a_wait_says_exactly_one_time() {
    let none = problem_of_steps("{name: a, type: wait}");
    assert_is(&none, "/steps/0", Code::Contradiction, None);
    for two in [
        "durationMs: 5, duration: 5s",
        "duration: 5s, untilTimestamp: 2026-04-15T09:00:00Z",
        "durationMs: 5, cron: '* * * * *'",
        "untilTimestamp: 2026-04-15T09:00:00Z, cron: '* * * * *'",
    ] {
        let both = problem_of_steps(&format!("{{name: a, type: wait, {two}}}"));
        assert_is(&both, "/steps/0", Code::Contradiction, None);
        assert!(both.message.ends_with("exclude each other"), "{both}");
    }
    let zone = problem_of_steps("{name: a, type: wait, durationMs: 5, timezone: Europe/Berlin}");
    assert_is(&zone, "/steps/0/timezone", Code::Contradiction, None);
}

#[test]
fn an_instant_with_an_offset_of_more_than_a_day_is_refused() {
    let far = problem_of_steps("{name: a, type: wait, untilTimestamp: '2026-04-15T09:00:00+25:59'}");
    assert_is(&far, "/steps/0/untilTimestamp", Code::BadTimestamp, None);
}

#[test]
fn a_length_is_given_in_one_form() {
    for (step, field) in [
        ("{name: a, type: task, handler: h, timeoutMs: 5, timeout: 5s}", "timeout"),
        ("{name: a, type: task, handler: h, heartbeatMs: 5, heartbeat: 5s}", "heartbeat"),
        ("{name: a, type: wait_for_event, eventId: e, lookbackMs: 5, lookback: 5s}", "lookback"),
    ] {
        assert_is(&problem_of_steps(step), &format!("/steps/0/{field}"), Code::Contradiction, None);
    }
    let run = problem("name: w\ntimeoutMs: 5\ntimeout: 5s\nsteps: [{name: a, type: task, handler: h}]");
    assert_is(&run, "/timeout", Code::Contradiction, None);
}

#[test]
fn a_timeout_of_no_time_is_refused_in_either_form() {
    for (step, field) in [
        ("{name: a, type: task, handler: h, timeout: 0s}", "timeout"),
        ("{name: a, type: task, handler: h, timeoutMs: 0}", "timeoutMs"),
        ("{name: a, type: webhook, timeout: 0s}", "timeout"),
    ] {
        assert_is(&problem_of_steps(step), &format!("/steps/0/{field}"), Code::OutOfRange, None);
    }
}

#[test]
fn a_duration_that_cannot_be_read_is_refused_where_it_stands() {
    for (step, field) in [
        ("{name: a, type: wait, duration: soon}", "duration"),
        ("{name: a, type: wait, duration: 1 month}", "duration"),
        ("{name: a, type: wait, duration: -5s}", "duration"),
        ("{name: a, type: wait_for_event, eventId: e, lookback: never}", "lookback"),
        (
            "{name: a, type: llm, model: m, messages: [{role: user, content: x}], timeout: '{{ input.x }}'}",
            "timeout",
        ),
    ] {
        assert_is(&problem_of_steps(step), &format!("/steps/0/{field}"), Code::BadDuration, None);
    }
}

#[test]
fn a_timestamp_is_rfc_3339() {
    for text in ["tomorrow", "2026-04-15", "2026-04-15T09:00:00", "2026-02-30T09:00:00Z"] {
        let bad = problem_of_steps(&format!("{{name: a, type: wait, untilTimestamp: {text}}}"));
        assert_is(&bad, "/steps/0/untilTimestamp", Code::BadTimestamp, None);
    }
    for text in ["2026-04-15T09:00:00.000Z", "2026-04-15T09:00:00+02:00", "'{{ input.when }}'"] {
        assert_eq!(warnings(&format!("{{name: a, type: wait, untilTimestamp: {text}}}")), []);
    }
}

#[test]
fn a_cron_line_can_be_read_and_comes() {
    for line in ["every day", "61 * * * *", "0 0 31 4 *"] {
        let bad = problem_of_steps(&format!("{{name: a, type: wait, cron: '{line}'}}"));
        assert_is(&bad, "/steps/0/cron", Code::BadCron, None);
    }
    let zone = problem_of_steps("{name: a, type: wait, cron: '0 9 * * *', timezone: Europe/Berln}");
    assert_is(&zone, "/steps/0/timezone", Code::UnknownZone, Some("Europe/Berlin"));
}

#[test]
fn no_wait_and_no_timeout_is_longer_than_a_year() {
    let too_long = 365 * DAY_MS + 1;
    for (step, field) in [
        (format!("{{name: a, type: wait, durationMs: {too_long}}}"), "durationMs"),
        ("{name: a, type: wait, duration: 366d}".to_owned(), "duration"),
        (format!("{{name: a, type: task, handler: h, timeoutMs: {too_long}}}"), "timeoutMs"),
        (format!("{{name: a, type: task, handler: h, heartbeatMs: {too_long}}}"), "heartbeatMs"),
        (format!("{{name: a, type: external_event, signalType: s, timeoutMs: {too_long}}}"), "timeoutMs"),
        (format!("{{name: a, type: wait_for_event, eventId: e, lookbackMs: {too_long}}}"), "lookbackMs"),
        (format!("{{name: a, type: approval, contentKey: k, timeoutMs: {too_long}}}"), "timeoutMs"),
        (format!("{{name: a, type: http, url: 'http://x', timeoutMs: {too_long}}}"), "timeoutMs"),
        (
            format!("{{name: a, type: task, handler: h, retry: {{maxBackoffMs: {too_long}}}}}"),
            "retry/maxBackoffMs",
        ),
        (
            format!("{{name: a, type: task, handler: h, retry: {{backoffMs: {}}}}}", u64::MAX),
            "retry/backoffMs",
        ),
    ] {
        assert_is(&problem_of_steps(&step), &format!("/steps/0/{field}"), Code::LimitExceeded, None);
    }
    assert_eq!(warnings(&format!("{{name: a, type: wait, durationMs: {}}}", 30 * DAY_MS)), []);
}

#[test]
fn a_wait_of_more_than_thirty_days_is_doubtful() {
    for (step, field) in [
        ("{name: a, type: wait, duration: 365d}", "duration"),
        ("{name: a, type: wait, durationMs: 2592000001}", "durationMs"),
        ("{name: a, type: webhook, timeout: 31d}", "timeout"),
    ] {
        let long = warnings(step);
        assert_eq!(long.len(), 1);
        assert_is(&long[0], &format!("/steps/0/{field}"), Code::LongWait, None);
    }
}

#[test]
fn the_longest_back_off_is_not_shorter_than_the_first() {
    let less =
        problem_of_steps("{name: a, type: task, handler: h, retry: {backoffMs: 2000, maxBackoffMs: 1000}}");
    assert_is(&less, "/steps/0/retry/maxBackoffMs", Code::Contradiction, None);
    let default = problem(
        "name: w\ndefaultRetry: {backoffMs: 2000, maxBackoffMs: 1000}\nsteps: [{name: a, type: task, handler: h}]",
    );
    assert_is(&default, "/defaultRetry/maxBackoffMs", Code::Contradiction, None);
}
