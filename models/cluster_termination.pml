/* Termination across ranks: four counters on a flat tree. Basic messages overtake each other. Words as in
   src/cluster/protocol.md.

   Checked: the end is announced if and only if all ranks are passive and nothing is in flight (acyclic). */

#ifndef RANKS
#define RANKS 3
#endif
#ifndef MESSAGES
#define MESSAGES 4  /* basic messages sent in all */
#endif

byte to_send = MESSAGES;
byte under_way[RANKS];  /* basic messages to this rank */
bool busy[RANKS];  /* the main loop has tasks */
bool helps[RANKS]; /* a helper has tasks */
bool left[RANKS];  /* tasks lie among those that arrived */
byte sent[RANKS], received[RANKS];

bool probe[RANKS];              /* a wave stands at this rank */
byte answers;                   /* of this wave */
byte sum_sent, sum_received;    /* of this wave */
byte previous;                  /* messages received, by the wave before */
bool previous_is_there;
bool ended;

#if defined(MUTANT_ANSWERS_WHILE_BUSY)
#define MAY_ANSWER(r) true
#elif defined(MUTANT_FORGETS_HELPERS)
#define MAY_ANSWER(r) (!busy[r] && !left[r])
#elif defined(MUTANT_FORGETS_WHAT_ARRIVED)
#define MAY_ANSWER(r) (!busy[r] && !helps[r])
#else
#define MAY_ANSWER(r) (!busy[r] && !helps[r] && !left[r])
#endif

/* An end exists only if messages arrive some time: to look for endless waves, they wait for it. */
#ifdef PROMPT
#define ARRIVED (under_way[0] == 0 && under_way[1] == 0 && under_way[2] == 0)
#else
#define ARRIVED true
#endif

inline announce() {
  atomic {
    i = 0;
    do
    :: i < RANKS -> assert(!busy[i] && !helps[i] && !left[i] && under_way[i] == 0); i++
    :: else -> break
    od;
    i = 0; ended = true
  }
}

/* Rank 0, once a wave is complete. */
inline judge() {
  atomic {
    answers = 0;
#if defined(MUTANT_ONE_WAVE)
    enough = sum_sent == sum_received;
#elif defined(MUTANT_SENT_BEFORE_RECEIVED)
    enough = previous_is_there && previous == sum_received;
#else
    enough = previous_is_there && previous == sum_sent;
#endif
#ifdef MUTANT_SENT_BEFORE_RECEIVED
    previous = sum_sent;
#else
    previous = sum_received;
#endif
    previous_is_there = true; sum_sent = 0; sum_received = 0
  }
  if
  :: enough -> announce()
  :: else
  fi
}

inline start_wave() {
  atomic {
    i = 0;
    do
    :: i < RANKS -> probe[i] = true; i++
    :: else -> break
    od;
    i = 0; wave = true
  }
}

proctype rank(byte me) {
  byte i, to;
  bool enough, wave;

  do
  :: atomic { ended -> break }
  /* works: sends tasks, some time becomes passive */
  :: atomic { (busy[me] || helps[me]) && to_send > 0 && !ended ->
       to_send--;
       select(to : 0 .. RANKS - 1);
       sent[me]++; under_way[to]++; to = 0
     }
  :: atomic { busy[me] -> busy[me] = false }
#ifdef HELPERS
  /* a helper takes what comes, in the step in which it looks, while the main loop has tasks; leaves some of it
     for others, and ends */
  :: atomic { under_way[me] > 0 && busy[me] && !helps[me] ->
       under_way[me]--;
       received[me]++;
       helps[me] = true
     }
  :: atomic { helps[me] -> left[me] = true }
  :: atomic { helps[me] -> helps[me] = false }
  :: atomic { left[me] && !busy[me] -> left[me] = false; busy[me] = true }
#endif
  :: atomic { under_way[me] > 0 ->
       under_way[me]--;
       received[me]++;
       busy[me] = true
     }
  :: atomic { probe[me] && MAY_ANSWER(me) ->
       probe[me] = false; answers++; sum_sent = sum_sent + sent[me]; sum_received = sum_received + received[me]
     }
#ifdef MUTANT_DROPS_PROBE_WHILE_BUSY
  :: atomic { probe[me] && busy[me] -> probe[me] = false }
#endif
  :: me == 0 && MAY_ANSWER(me) && !wave && !ended && ARRIVED -> start_wave()
  :: atomic { me == 0 && answers == RANKS -> wave = false }; judge()
  od
}

init {
  byte i;
  atomic {
    do
    :: i < RANKS -> busy[i] = true; run rank(i); i++  /* at work, or not yet in the run */
    :: else -> break
    od
  }
}
