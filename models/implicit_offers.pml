/* The implicit scheduler's offers, under total store order: fork, poll, offer, take back, wait, steal, sleep. One fiber,
   which two workers run in turn, and two thieves. Edges implicit-1 to implicit-4 in src/schedulers/implicit/protocol.md. Not
   modelled: landing pads, scopes.

   Checked: each g runs once; while a thief sleeps there is an offer, a request, or an awake thief. */

#ifndef DEEP
#define DEEP 3  /* join frames on the stack at a time */
#endif
#ifndef FORKS
#define FORKS 4
#endif
#define THIEVES 2
#define PROCS 3
#define OWNER 0
#ifndef DEPTH
#define DEPTH 4
#endif

/* words of memory; OPEN holds both tail and head */
#define RECORD(i) (i)
#define POLL(w) (DEEP + (w))  /* of the worker, 0 or 1 */
#define OPEN (DEEP + 2)
#define ASLEEP(p) (DEEP + 2 + (p))
#define WORDS (DEEP + 3 + THIEVES)

#define WORD(t, h) ((h) * 8 + (t))
#define TAIL (mem[OPEN] % 8)
#define HEAD (mem[OPEN] / 8)

#define SOMEBODY_SLEEPS (mem[ASLEEP(1)] == 1 || mem[ASLEEP(2)] == 1)

#include "tso.pml"

short ran;        /* a bit a frame: its g was run */
bool arrived[FORKS + 1];
bool stolen[FORKS + 1];
bool sleeps[THIEVES + 1];  /* without an end, until it is woken */
bool finished;
bit runner;           /* which of the two workers the fiber is on; it is the owner */
bit publisher[DEEP];  /* of a record: the worker that offered it */
byte tripping;  /* thieves between the last offer and their request */

/* edge implicit-4: while a worker sleeps, there is an offer, or a request stands */
#define forgotten ((sleeps[1] || sleeps[2]) && mem[POLL(runner)] == 0 && TAIL == HEAD && tripping == 0)

inline run_once(id) {
  assert((ran & (1 << id)) == 0);
  ran = ran | (1 << id)
}

inline wake_one() {
  if
  :: atomic { mem[ASLEEP(1)] == 1 -> mem[ASLEEP(1)] = 0; sleeps[1] = false }
  :: atomic { mem[ASLEEP(2)] == 1 -> mem[ASLEEP(2)] = 0; sleeps[2] = false }
  :: atomic { mem[ASLEEP(1)] == 0 && mem[ASLEEP(2)] == 0 -> skip }
  fi
}

/* Offers the oldest of the frames that are not offered, any number of them. */
inline offer() {
  k = offered;
  do
  :: k < frames ->
#ifdef MUTANT_OFFERS_THE_NEWEST
     frame_at_record[k] = frame[frames - 1];
#else
     frame_at_record[k] = frame[k];
#endif
     publisher[k] = runner;
#ifndef MUTANT_RECORD_AFTER_OFFER
     STORE(OWNER, RECORD(k), frame_at_record[k]);
#endif
     k++;
#ifdef MUTANT_OFFERS_THE_NEWEST
     break
#endif
  :: k > offered -> break
  od;
#ifdef MUTANT_WAKES_BEFORE_OFFER
  wake_one();
#endif
#ifndef MUTANT_REQUEST_TAKEN_AWAY_LAST
  STORE_SC(OWNER, POLL(runner), 0);
#endif
  atomic { DRAINED(OWNER) -> mem[OPEN] = WORD(TAIL, k) };
#ifdef MUTANT_RECORD_AFTER_OFFER
  do
  :: offered < k -> STORE(OWNER, RECORD(offered), frame_at_record[offered]); offered++
  :: else -> break
  od;
#endif
  offered = k;
#ifdef MUTANT_REQUEST_TAKEN_AWAY_LAST
  STORE_SC(OWNER, POLL(runner), 0);
#endif
#ifndef MUTANT_WAKES_BEFORE_OFFER
  wake_one();
#endif
  k = 0;
  /* edge implicit-4 */
  atomic { assert(!(TAIL < HEAD && sleeps[1] && sleeps[2] && mem[POLL(runner)] == 0)); assert(!forgotten) }
}

proctype owner() {
  byte frames, offered, k, id, p, next = 1;
  byte frame[DEEP];            /* the join frames on the stack, the oldest first */
  byte frame_at_record[DEEP];

  do
  :: frames < DEEP && next <= FORKS ->
     atomic { frame[frames] = next; frames++; next++ };
     LOAD(OWNER, POLL(runner), p);
     if
     :: p == 1 -> p = 0; offer()
     :: else -> p = 0
     fi
  :: frames > 0 ->
     /* The child of the newest frame returned. */
     id = frame[frames - 1];
     if
     :: offered < frames ->  /* no other worker knows it */
        d_step { run_once(id) }
     :: else ->
        LOAD(OWNER, OPEN, k);
        if
        :: k % 8 < k / 8 ->
#ifdef MUTANT_TAKES_BACK_WITHOUT_CAS
           STORE_SC(OWNER, OPEN, WORD(k % 8, k / 8 - 1));
           d_step { assert(!stolen[id]); run_once(id) };
           k = 0;
           goto over;
#endif
           /* edge implicit-3: one locked instruction decides; a failing one is tried again */
           if
           :: atomic { DRAINED(OWNER) && TAIL < HEAD -> mem[OPEN] = WORD(TAIL, HEAD - 1) };
              d_step { assert(!stolen[id]); run_once(id) };
#ifndef MUTANT_NO_REQUEST_AFTER_TAKING_BACK
              /* edge implicit-4: nothing is offered any more, and a worker sleeps */
              if
              :: atomic { TAIL == HEAD && (mem[ASLEEP(1)] == 1 || mem[ASLEEP(2)] == 1) -> skip };
                 STORE_SC(OWNER, POLL(runner), 1)
              :: atomic { TAIL < HEAD || (mem[ASLEEP(1)] == 0 && mem[ASLEEP(2)] == 0) -> skip }
              fi;
#endif
              k = 0;
              goto over
           :: atomic { DRAINED(OWNER) && TAIL == HEAD -> skip }
           fi
        :: else
        fi;
        k = 0;
        /* I1: a fiber that waits holds nothing that a thief could take. */
        assert(offered == frames);
        arrived[id];
        if  /* the last to arrive continues the fiber */
        :: skip
        :: atomic { DRAINED(OWNER) -> runner = 1 - runner }
        fi;
        d_step { assert((ran & (1 << id)) != 0) };
        /* a plain store: no other process changes the word */
        STORE(OWNER, OPEN, WORD(offered - 1, offered - 1));
over:
        offered--
     fi;
     d_step { frames--; frame[frames] = 0; frame_at_record[frames] = 0; id = 0 };
     atomic { assert(!forgotten) }
  :: frames == 0 && next > FORKS -> break
  od;
  atomic { assert(ran == (1 << next) - 2); finished = true }
}

/* Both workers may have left a header of the stack behind. */
inline ask_both() {
  STORE_SC(me, POLL(0), 1);
  STORE_SC(me, POLL(1), 1)
}

proctype thief(byte me) {
  byte t, task;
  bool last;
#ifdef MUTANT_ASKS_WHERE_IT_LOOKED
  bit victim;
#endif
#ifdef MUTANT_LOOKS_FOR_SLEEPERS_BEFORE_TAKING
  bool saw_sleeper;
#endif

look:
  end: if
#ifdef MUTANT_LOOKS_FOR_SLEEPERS_BEFORE_TAKING
  :: atomic { TAIL < HEAD -> saw_sleeper = SOMEBODY_SLEEPS };
     atomic { DRAINED(me) && TAIL < HEAD -> t = TAIL; mem[OPEN] = WORD(t + 1, HEAD); tripping++; last = t + 1 == HEAD };
#elif defined(MUTANT_STEALS_WITHOUT_CAS)
  :: atomic { TAIL < HEAD -> t = TAIL };
     atomic { DRAINED(me) -> mem[OPEN] = WORD(t + 1, HEAD); tripping++; last = t + 1 == HEAD };
#else
  :: atomic { DRAINED(me) && TAIL < HEAD -> t = TAIL; mem[OPEN] = WORD(t + 1, HEAD); tripping++; last = t + 1 == HEAD };
#endif
     /* The trip wire: the taker of the last offer requests for workers that sleep. */
     if
#ifdef MUTANT_LOOKS_FOR_SLEEPERS_BEFORE_TAKING
     :: atomic { last && saw_sleeper -> skip }; atomic { DRAINED(me) -> mem[POLL(publisher[t])] = 1; tripping-- }
     :: atomic { !(last && saw_sleeper) -> tripping-- }
#elif defined(MUTANT_ASKS_WHERE_IT_LOOKED)
     :: atomic { last && SOMEBODY_SLEEPS -> if :: victim = 0 :: victim = 1 fi };
        atomic { DRAINED(me) -> mem[POLL(victim)] = 1; victim = 0; tripping-- }
     :: atomic { !(last && SOMEBODY_SLEEPS) -> tripping-- }
#elif !defined(MUTANT_NO_TRIP_WIRE)
     :: atomic { last && SOMEBODY_SLEEPS -> skip }; atomic { DRAINED(me) -> mem[POLL(publisher[t])] = 1; tripping-- }
     :: atomic { !(last && SOMEBODY_SLEEPS) -> tripping-- }
#else
     :: atomic { tripping-- }
#endif
     fi;
     LOAD(me, RECORD(t), task);
     d_step { assert(task != 0); assert(!stolen[task]); stolen[task] = true; run_once(task) };
     atomic { DRAINED(me) -> arrived[task] = true; t = 0; task = 0; last = false }
  :: atomic { TAIL >= HEAD && !finished -> skip };
     ask_both()
  :: atomic { TAIL >= HEAD && !finished -> skip };
     /* Sleeps: announces itself, asks, looks once more. */
#ifdef MUTANT_ASKS_BEFORE_ANNOUNCING
     ask_both();
     STORE_SC(me, ASLEEP(me), 1);
#else
     STORE_SC(me, ASLEEP(me), 1);
     ask_both();
#endif
#ifdef MUTANT_SLEEPS_WITHOUT_A_LAST_LOOK
     if
     :: atomic { mem[ASLEEP(me)] == 1 -> sleeps[me] = true; assert(TAIL >= HEAD) }
     :: atomic { mem[ASLEEP(me)] == 0 -> skip }
     fi;
#else
     if
     :: atomic { TAIL < HEAD -> mem[ASLEEP(me)] = 0 }
     :: atomic { TAIL >= HEAD && mem[ASLEEP(me)] == 1 -> sleeps[me] = true }
     :: atomic { TAIL >= HEAD && mem[ASLEEP(me)] == 0 -> skip }
     fi;
#endif
     endsleep: atomic { !sleeps[me] -> skip }
  fi;
  goto look
}

init {
  atomic {
    run owner();
    run thief(1);
    run thief(2);
    run drain(0);
    run drain(1);
    run drain(2)
  }
}
