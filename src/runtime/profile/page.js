// The page of FILCH_PROFILE: curve, places, pictures. It is put into ../page.html.
const k_workers = [1, 2, 4, 8, 16, 32, 64, 128, 256];
function parallelism(work, span) { return span > 0 ? Math.max(1, work / span) : 1; }
const program_parallelism = parallelism(d.work, d.span);

// ---- bounds and prediction
function most(workers) { return Math.min(workers, program_parallelism); }
function least(workers, burden) {
  if (workers === 1) return 1;
  return Math.min(most(workers), d.work / (d.work / workers + burden.span));
}
function predicted(workers) {
  const found = d.predicted.find(p => p[0] === workers);
  return found ? found[1] : null;
}

function head() {
  const burdened = parallelism(d.work, d.burdens[0].span);
  main.append(make("h1", {}, d.program));
  main.append(make("p", { id: "verdict" }, d.forks === 0 ? "No forks were measured." :
    `Parallelism is at least ${number(program_parallelism)}, and ${number(burdened)} with the cost of steals: ` +
    (burdened < 3 ? "more than two workers are hardly of use." :
      `up to about ${count(Math.round(burdened / 2))} workers are used well.`)));
  main.append(tile_row(
    [time(d.work), "work \u00b1 " + time(d.work_error)],
    [time(d.span), "span \u00b1 " + time(d.span_error)],
    [number(program_parallelism), "parallelism at least"],
    [count(d.forks), "forks"],
    ...(d.forks ? [[time(d.work / d.forks), "work for each fork"]] : [])));
}

function curve(burden) {
  const width = 860, height = 400, left = 44, right = 150, top = 14, bottom = 40;
  const last = k_workers.length - 1;
  const x = p => left + (width - left - right) * Math.log2(p) / last;
  const y = s => height - bottom - (height - top - bottom) * Math.log2(Math.max(1, s)) / last;
  const svg = make("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": "speed-up by number of workers" });
  for (const p of k_workers) {
    svg.append(make("line", { class: "grid", x1: x(p), x2: x(p), y1: y(1), y2: y(256) }));
    svg.append(make("line", { class: "grid", x1: x(1), x2: x(256), y1: y(p), y2: y(p) }));
    svg.append(make("text", { x: x(p), y: height - bottom + 17, "text-anchor": "middle" }, String(p)));
    svg.append(make("text", { x: left - 8, y: y(p) + 4, "text-anchor": "end" }, String(p)));
  }
  svg.append(make("text", { x: (x(1) + x(256)) / 2, y: height - 4, "text-anchor": "middle" }, "workers"));
  const fine = [];
  for (let i = 0; i <= 16 * last; ++i) fine.push(2 ** (i / 16));
  const points = (xs, f) => xs.map(p => `${x(p).toFixed(1)},${y(f(p)).toFixed(1)}`);
  const upper = points(fine, most), lower = points(fine, p => least(p, burden));
  svg.append(make("path", { class: "band", d: "M" + upper.join("L") + "L" + lower.reverse().join("L") + "Z" }));
  svg.append(make("path", { class: "law", d: "M" + points([1, 256], p => p).join("L") }));
  const limit = Math.min(256, program_parallelism);
  svg.append(make("path", { class: "law", d: `M${x(1)},${y(limit)}L${x(256)},${y(limit)}` }));
  svg.append(make("path", { class: "low", d: "M" + points(fine, p => least(p, burden)).join("L") }));

  const labels = [["work law", y(256) + 4, "lawtext"]];
  if (program_parallelism < 256) labels.push(["span law, " + number(program_parallelism), y(limit) + 4, "lawtext"]);
  labels.push(["greedy, all stolen", y(least(256, burden)) + 4, "maintext"]);
  if (d.predicted.length) {
    const known = d.predicted.filter(p => p[0] <= 256);
    svg.append(make("path", { class: "main",
      d: "M" + known.map(p => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join("L") }));
    for (const p of known) {
      svg.append(make("circle", { class: "dot", cx: x(p[0]), cy: y(p[1]), r: 3.5 },
        make("title", {}, `${p[0]} workers: ${number(p[1])}`)));
    }
    labels.push(["predicted", y(known[known.length - 1][1]) + 4, "maintext"]);
  }
  // Labels that would cover each other move apart.
  labels.sort((a, b) => a[1] - b[1]);
  for (let i = 1; i < labels.length; ++i) labels[i][1] = Math.max(labels[i][1], labels[i - 1][1] + 16);
  for (let i = labels.length - 1, low = height - bottom + 4; i >= 0; --i, low -= 16) labels[i][1] = Math.min(labels[i][1], low);
  for (const [text, at, kind] of labels) svg.append(make("text", { class: kind, x: x(256) + 8, y: at }, text));
  return svg;
}

function bounds(burden) {
  const table = make("table", { id: "bounds" });
  table.append(make("tr", {}, make("th", { scope: "row" }, "workers"), ...k_workers.map(p => make("th", {}, String(p)))));
  const row = (name, f) => table.append(make("tr", {}, make("td", {}, name),
    ...k_workers.map(p => make("td", {}, f(p) === null ? "" : number(f(p))))));
  row("speed-up at most", most);
  if (d.predicted.length) row("predicted", predicted);
  row("greedy, all on the span stolen", p => least(p, burden));
  return table;
}

function speedup() {
  main.append(make("h2", {}, "Speed-up"));
  const choice = make("div", { class: "choice" }, make("span", { class: "soft" }, "cost of a steal:"));
  const place = make("div", {});
  const draw = b => place.replaceChildren(curve(b), make("div", { class: "wide" }, bounds(b)));
  d.burdens.forEach((b, i) => {
    const button = make("input", { type: "radio", name: "burden" });
    button.checked = i === 0;
    button.addEventListener("change", () => draw(b));
    choice.append(make("label", {}, button, ` ${time(b.cost)}, ${b.from}`));
  });
  main.append(choice, place);
  if (d.predicted.length) {
    main.append(make("p", { class: "soft" }, "The prediction is a simulation of work stealing on the recorded fork tree, " +
      "with the first of these costs. The area is between the laws and the bound of greedy schedules."));
  }
  draw(d.burdens[0]);
}

function color(place) { return place < 0 ? "#9aa1ac" : colors[place % colors.length]; }

function places() {
  if (!d.places.length) return;
  main.append(make("h2", {}, "Places"));
  main.append(make("p", { class: "soft" }, "Forks by source line, each with all that is inside of them. Own: without forks " +
    "of other places. The last column is the program\u2019s parallelism if the place\u2019s own code took half the time."));
  const rows = d.places.map((p, i) => ({ ...p, i }));
  main.append(sorting_table("places", [
    text_column("join at", r => r.join, r => color(r.i)),
    text_column("task at", r => r.task),
    column("forks", r => r.forks, count),
    column("work", r => r.work, time),
    column("own", r => r.own, time),
    column("span", r => r.span, time),
    column("parallelism", r => parallelism(r.work, r.span), number),
    column("under 1 \u00b5s", r => r.small, percent),
    column("of the span", r => r.share, percent),
    column("if twice as fast", r => r.faster, number),
  ], rows));
}

function regions() {
  if (!d.regions.length) return;
  main.append(make("h2", {}, "Regions"));
  main.append(sorting_table("regions", [
    text_column("name", r => r.name),
    column("calls", r => r.calls, count),
    column("forks", r => r.forks, count),
    column("work", r => r.work, time),
    column("span", r => r.span, time),
    column("parallelism", r => parallelism(r.work, r.span), number),
    column("with steals", r => parallelism(r.work, r.burdened), number),
  ], d.regions.slice()));
}

// ---- the picture: boxes below the box of the place around them
function flame(what) {
  const boxes = d.flame.map((b, i) => ({ ...b, i, all: b[what], inside: [] }));
  for (let i = boxes.length - 1; i > 0; --i) boxes[boxes[i].parent].all += boxes[i].all;
  for (let i = 1; i < boxes.length; ++i) boxes[boxes[i].parent].inside.push(boxes[i]);
  const total = boxes[0].all;
  const picture = make("div", { class: "flame", id: "flame-" + what });
  let depth = 0;
  const draw = (box, at, level) => {
    const part = box.all / total;
    if (!(part > 0.001)) return;
    depth = Math.max(depth, level + 1);
    const name = box.place < 0 ? (box.parent < 0 ? "all runs" : "other places") : d.places[box.place].join === "-" ?
      d.places[box.place].task : d.places[box.place].join;
    const text = `${name}  ${time(box.all)}, ${percent(part)}`;
    picture.append(make("div", { class: "box", title: `${text}; own ${time(box[what])}`,
      style: `--c:${color(box.place)};left:${(100 * at).toFixed(3)}%;width:${(100 * part).toFixed(3)}%;top:${1.7 * level}rem` },
      text));
    box.inside.sort((a, b) => b.all - a.all);
    for (const each of box.inside) {
      draw(each, at, level + 1);
      at += Math.max(0, each.all / total);
    }
  };
  if (total > 0) draw(boxes[0], 0, 0);
  picture.style.height = `${1.7 * depth}rem`;
  return picture;
}
function flames() {
  if (d.flame.length < 2) return;
  main.append(make("h2", {}, "Where work and span are"));
  main.append(make("p", { class: "soft" }, "A box is the code inside of forks at one place, below the place around it."));
  main.append(make("p", {}, "Work"), flame("work"), make("p", {}, "Span"), flame("span"));
}

function notes() {
  main.append(make("h2", {}, "How it was measured"));
  const list = make("dl", {});
  for (const [name, text] of d.notes) list.append(make("dt", {}, name), make("dd", {}, text));
  main.append(list);
}

document.title = "Work and span of " + d.program;
head();
speedup();
places();
flames();
regions();
notes();
