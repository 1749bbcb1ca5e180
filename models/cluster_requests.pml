/* Steal requests between ranks, in two runs, and the end of the cluster. Messages arrive in any order. Ranks know
   the end of a run at once here: cluster_termination.pml finds it.

   Checked: a request meets each rank once; sent minus received is the number in flight. */

#ifndef RANKS
#define RANKS 3
#endif
#ifndef TASKS
#define TASKS 3  /* tasks of a run */
#endif
#ifndef ASKS
#define ASKS 2   /* requests of each rank, at most */
#endif
#ifndef RUNS
#define RUNS 2
#endif

#define NOWHERE RANKS

/* the request of each rank: one at most, in one place */
byte under_way_to[RANKS];  /* a message */
byte listed_at[RANKS];
byte hops[RANKS], stride[RANKS];
byte met[RANKS];           /* a bit for each rank that had it */

byte answer[RANKS];        /* tasks in a message to this rank: one at most */
byte tasks[RANKS];         /* in its deque */
bool asking[RANKS];
byte done;

byte runs_begun[RANKS];
byte runs_over;

/* the end */
bool closing[RANKS];
byte how_many_close;
bool contributed[RANKS];  /* to the reduction of the numbers below */
byte contributions;
short sum;
short net[RANKS];         /* messages sent less those received */
bool over;
short are_under_way;     /* less those that are counted as such */

#define EXISTS(r) (under_way_to[r] != NOWHERE || listed_at[r] != NOWHERE || answer[r] > 0)

inline send_request(thief, whereto, from) {
  assert(!EXISTS(thief));
  under_way_to[thief] = whereto; net[from]++
}

inline forward(me, thief, to) {
  hops[thief]++;
  if
#ifdef MUTANT_ONE_HOP_TOO_FEW
  :: hops[thief] >= RANKS - 2 -> to = thief
#else
  :: hops[thief] >= RANKS - 1 -> to = thief
#endif
  :: else -> to = (thief + (hops[thief] + 1) * stride[thief]) % RANKS
  fi;
  listed_at[thief] = NOWHERE;
  send_request(thief, to, me);
  to = 0
}

inline forget(thief) {
  hops[thief] = 0; stride[thief] = 0; met[thief] = 0
}

/* A request of another rank arrives. */
#define RECEIVES(other)                                              \
  :: atomic { under_way_to[other] == me ->                           \
       under_way_to[other] = NOWHERE; COUNT_RECEIVED;                \
       if                                                            \
       :: closing[me] -> WHERE_IT_CLOSES(other)                      \
       :: else ->                                                    \
          assert((met[other] & (1 << me)) == 0);                     \
          met[other] = met[other] | (1 << me); listed_at[other] = me \
       fi                                                            \
     }

/* It is answered, or goes on. */
#define SERVES(other)                                                \
  :: atomic { listed_at[other] == me ->                              \
       if                                                            \
       :: tasks[me] > 1 ->                                           \
          ANSWERED(other);                                           \
          assert(!EXISTS(other));                                    \
          answer[other] = tasks[me] / 2; net[me]++;                  \
          tasks[me] = tasks[me] - answer[other]                      \
       :: else -> GOES_ON(other)                                     \
       fi                                                            \
     }

#ifdef MUTANT_DOES_NOT_COUNT_WHAT_IT_DROPS
#define COUNT_RECEIVED if :: !closing[me] -> net[me]-- :: else fi
#else
#define COUNT_RECEIVED net[me]--
#endif
#ifdef MUTANT_FORWARDS_AS_IT_CLOSES
#define WHERE_IT_CLOSES(other) met[other] = met[other] | (1 << me); listed_at[other] = me
#else
#define WHERE_IT_CLOSES(other) forget(other)
#endif
#ifdef MUTANT_ANSWERS_AND_KEEPS
#define ANSWERED(other) skip
#else
#define ANSWERED(other) listed_at[other] = NOWHERE
#endif
#ifdef MUTANT_DROPS_REQUESTS
#define GOES_ON(other) listed_at[other] = NOWHERE
#else
#define GOES_ON(other) forward(me, other, to)
#endif

/* All have contributed. */
inline judge(i) {
  contributions = 0;
  i = 0;
  do
  :: i < RANKS ->
     contributed[i] = false;
     are_under_way = are_under_way + (under_way_to[i] != NOWHERE) + (answer[i] > 0) - net[i]; i++
  :: else -> break
  od;
  i = 0;
  assert(are_under_way == 0);   /* the numbers are right */
#ifdef MUTANT_LEAVES_AFTER_FIRST_REDUCTION
  sum = 0;
#endif
  if
  :: sum == 0 ->
     over = true;
     do
     :: i < RANKS -> assert(under_way_to[i] == NOWHERE && answer[i] == 0); i++
     :: else -> break
     od;
     i = 0
  :: else -> sum = 0
  fi
}

proctype rank(byte me) {
  byte asked, to, i;
  do
  :: atomic { over -> break }
  :: atomic { runs_begun[me] < RUNS && runs_begun[me] == runs_over ->
       runs_begun[me]++;
#ifdef MUTANT_FORGETS_ITS_REQUEST
       asking[me] = false;
#endif
       if
       :: me == 0 -> tasks[0] = TASKS
       :: else
       fi
     }
  :: atomic { tasks[me] > 0 ->
       tasks[me]--; done++;
       if
       :: done == TASKS -> done = 0; runs_over++
       :: else
       fi
     }

  /* In a run. Early, perhaps. */
  :: atomic { runs_begun[me] > runs_over && tasks[me] < 2 && !asking[me] && asked < ASKS ->
       asked++; asking[me] = true;
       if
       :: stride[me] = 1
       :: stride[me] = RANKS - 1
#ifdef MUTANT_COMMON_DIVISOR
       :: stride[me] = 2
#endif
       fi;
       send_request(me, (me + stride[me]) % RANKS, me)
     }
  RECEIVES((me + 1) % RANKS)
  RECEIVES((me + 2) % RANKS)
  SERVES((me + 1) % RANKS)
  SERVES((me + 2) % RANKS)
#if RANKS > 3
  RECEIVES((me + 3) % RANKS)
  SERVES((me + 3) % RANKS)
#endif
  :: atomic { under_way_to[me] == me ->   /* its own, in vain */
       assert(met[me] == (1 << RANKS) - 1 - (1 << me));
       under_way_to[me] = NOWHERE; COUNT_RECEIVED;
       forget(me); asking[me] = false
     }
  :: atomic { answer[me] > 0 ->
       tasks[me] = tasks[me] + answer[me]; answer[me] = 0; net[me]--;
       forget(me); asking[me] = false
     }
  :: atomic { asking[me] && !EXISTS(me) && how_many_close == 0 -> assert(false) }   /* it would wait for ever */

  /* The end. */
  :: atomic { runs_over == RUNS && !closing[me] ->
       closing[me] = true; how_many_close++;
       do
       :: i < RANKS ->
          if
          :: listed_at[i] == me -> listed_at[i] = NOWHERE; forget(i)
          :: else
          fi;
          i++
       :: else -> break
       od;
       i = 0
     }
  :: atomic { how_many_close == RANKS && !contributed[me] && !over ->
       sum = sum + net[me]; contributed[me] = true; contributions++;
       if
       :: contributions == RANKS -> judge(i)
       :: else
       fi
     }
  od
}

init {
  byte i;
  atomic {
    do
    :: i < RANKS -> under_way_to[i] = NOWHERE; listed_at[i] = NOWHERE; i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < RANKS -> run rank(i); i++
    :: else -> break
    od
  }
}
