#!/bin/sh
# Fail where a candidate translates significantly worse than the baseline.
#
#   GNOMON_URL=https://compare.example.org GNOMON_TOKEN=... sh gate.sh REFERENCE BASELINE CANDIDATE
#
# Exit code 0: passed; 3: the candidate is worse; 1: nothing can be said, and why.
set -eu

reference=$1 baseline=$2 candidate=$3
comparisons="$GNOMON_URL/api/v1/comparisons"
request='{
  "title": "Candidate beside baseline",
  "language_pair": "en",
  "metrics": ["chrf", "bleu"],
  "gate": {"baseline": "baseline", "metrics": ["chrf"], "min_drop": 0.5}
}'

ask() {
    curl --silent --show-error --header "Authorization: Bearer $GNOMON_TOKEN" "$@"
}

answer=$(ask \
    --form "reference=@$reference;filename=reference.txt" \
    --form "output=@$baseline;filename=baseline.txt" \
    --form "output=@$candidate;filename=candidate.txt" \
    --form-string "request=$request" \
    "$comparisons")

while [ "$(echo "$answer" | jq -r '.gate.state?')" = waiting ]; do
    sleep 1
    answer=$(ask "$comparisons/$(echo "$answer" | jq -r .id)")
done

case $(echo "$answer" | jq -r '.gate.state?') in
passed)
    echo "$answer" | jq -r '.verdict[] | select(.method == "compare") | .sentences[].text'
    ;;
failed)
    echo "$answer" | jq -r '"The gate failed: \(.gate.said)"'
    echo "$answer" | jq -r --arg url "$GNOMON_URL" '"See \($url)\(.page)"'
    exit 3
    ;;
*) # a problem (application/problem+json), or texts that do not allow to say
    echo "$answer" | jq -r '[.title, .detail, .gate.said?, .file, .line, .remedy]
        | map(select(. != null and . != "")) | map(tostring) | join("; ")' >&2
    exit 1
    ;;
esac
