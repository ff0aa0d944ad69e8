#!/bin/sh
# A worker made of curl and a loop. It reads the pages of `page-reader`: after each page it pauses with a checkpoint and
# lets go of the task, so it may be killed at any time; another one goes on with the next page.
#
#   abide deploy examples/page-reader.json
#   abide start page-reader --input '{"pages": 3}'
#   sh examples/shell-worker.sh
#
# ABIDE_SERVER, ABIDE_API_KEY: which server, and the key where it wants one.
# READ: the command that reads a page; it gets the page's number. REST: how long to rest after a page.
# LEASE_MS: how long a page may take. Whoever has not reported by then has lost the task to others.
set -u

server=${ABIDE_SERVER:-http://127.0.0.1:22433}
worker=${WORKER:-shell-$$}
rest=${REST:-1s}
lease_ms=${LEASE_MS:-10000}
read_page=${READ:-true}

# post PATH JSON: prints the answer; fails if it says no.
post() {
  curl --silent --show-error --fail-with-body \
    --header "content-type: application/json" ${ABIDE_API_KEY:+--header "x-api-key: $ABIDE_API_KEY"} \
    --data "$2" "$server/api/v1$1"
}

# text NAME, number NAME: a field of the JSON on standard input, nothing if it is null.
text() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }
number() { grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d : -f 2; }

while :; do
  # Waits until there is a task, half a minute at most.
  task=$(post /tasks/poll "{\"handlers\": [\"read-pages\"], \"workerId\": \"$worker\", \"leaseMs\": $lease_ms}") || {
    sleep 1
    continue
  }
  id=$(printf %s "$task" | text id)
  [ -n "$id" ] || continue
  lease=$(printf %s "$task" | text leaseToken)
  pages=$(printf %s "$task" | number pages)
  done=$(printf %s "$task" | number checkpoint)
  page=$((${done:-0} + 1))

  if ! $read_page "$page"; then
    post "/tasks/$id/fail" "{\"leaseToken\": \"$lease\", \"message\": \"page $page cannot be read\"}"
  elif [ "$page" -lt "$pages" ]; then
    post "/tasks/$id/pause" \
      "{\"leaseToken\": \"$lease\", \"name\": \"after-page-$page\", \"duration\": \"$rest\", \"checkpoint\": $page}"
  else
    post "/tasks/$id/complete" "{\"leaseToken\": \"$lease\", \"output\": {\"pages\": $page, \"by\": \"$worker\"}}"
  fi
  echo
done
