// The page of FILCH_TRACE: what the workers of each pool did. It is put into ../page.html.
const k_states = [["busy", "#4c86c6"], ["searching", "#e08a2e"], ["waiting", "#b26fb0"], ["asleep", "#8b8f98"]];

function state_bar(place) {
  const bar = make("div", { class: "bar", role: "img", "aria-label":
    k_states.map(([name]) => `${name} ${percent(place[name])}`).join(", ") });
  for (const [name, color] of k_states) {
    const part = place[name];
    if (!(part > 0)) continue;
    const text = part < 0.08 ? "" : percent(part);
    bar.append(make("div", { class: text ? "part" : "part thin", style: `--c:${color};flex-grow:${part.toFixed(5)}`,
      title: `${name} ${percent(part)}, ${time(1e3 * part * place.seconds)}` }, text));
  }
  return bar;
}

function state_bars(places) {
  const key = make("div", { class: "choice" }, ...k_states.map(([name, color]) =>
    make("span", {}, make("span", { class: "key", style: "--c:" + color }), name)));
  const bars = make("div", { class: "bars" });
  for (const place of places) bars.append(make("div", {}, place.name), state_bar(place));
  return [key, bars];
}

function pool(p) {
  const steals = p.places.reduce((sum, place) => sum + place.steals, 0);
  main.append(make("h2", {}, `Pool ${p.number}: ${p.scheduler}, ${count(p.workers)} workers`));
  main.append(make("p", { class: "verdict" }, p.in_use > 0 ?
    `${number(p.in_use)} of ${count(p.workers)} workers had a task, on average while any had one.` : "No task ran."));
  if (p.idle_seconds > 0) {
    main.append(make("p", { class: "idle" }, `Longest stretch with half of them idle: ${time(1e3 * p.idle_seconds)}, ` +
      `${time(1e3 * p.idle_begin)} after the begin. Meanwhile ran ${p.ran_meanwhile}.`));
  }
  if (p.dropped > 0) {
    main.append(make("p", {}, `The oldest ${count(p.dropped)} events were dropped: FILCH_TRACE_EVENTS sets how many are kept.`));
  }
  main.append(tile_row([number(p.in_use), "workers in use"], [count(steals), "steals"], [count(p.events), "events"]));
  main.append(...state_bars(p.places));
  const part = name => column(name, r => r[name], percent);
  main.append(sorting_table("pool-" + p.number, [
    text_column("place", r => r.name),
    column("present", r => 1e3 * r.seconds, time),
    part("busy"), part("searching"), part("waiting"), part("asleep"),
    column("steals", r => r.steals, count),
  ], p.places.slice()));
}

document.title = "Workers of " + d.program;
main.append(make("h1", {}, d.program));
main.append(make("p", { class: "soft" }, "The part of its time in which each worker had a task, searched for one, waited in a join, and slept."));
if (!d.pools.length) main.append(make("p", {}, "There was no pool."));
d.pools.forEach(pool);
