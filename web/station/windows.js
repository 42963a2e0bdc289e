// The times in which a workload runs: windows within the load of its station, in ns since the run's load began.

/**
 * The windows `{from, to}` of `activity` within the time from `start` to `end`, in order. The part of a window outside this
 * time is cut off; a window without a part inside is omitted. An activity from 0 on begins at `start`.
 */
export function windows(activity, start, end) {
  const { start: first, stop, repeat } = activity;
  const list = [];
  for (let begin = first; ; begin += repeat) {
    const from = begin === 0 ? start : Math.max(begin, start);
    const to = stop === null ? end : Math.min(begin + stop - first, end);
    if (from < to) {
      list.push({ from, to });
    }
    if (repeat === null || begin + repeat >= end) {
      return list;
    }
  }
}
