/* Messages of several tasks in filch::channel: an owner that forks, joins and requests tasks in its waits, and two
   thieves. They take one task or half of them, send some on (also to the owner), and decline the others. Memory is sequentially
   consistent; channel_request.pml and channel_wait.pml model the words. Not modelled: thieves that fork and wait.

   Checked: a private task is nowhere else; the owner finishes though thieves stop. */

#ifndef TASKS
#define TASKS 3       /* descriptors */
#endif
#ifndef FORKS
#define FORKS 3       /* in all */
#endif
#ifndef GIVE_BACKS
#define GIVE_BACKS 1  /* of each thief */
#endif

#define WORKERS 3
#define OWNER 0

#define CLOSED 0
#define OPEN 1
#define FULL 2

#define PENDING 0
#define DONE 1
#define DECLINED 2

#define NOBODY TASKS

/* descriptors, all of them the owner's */
byte future[TASKS];
byte sent_to[TASKS];
byte runs[TASKS];     /* since the fork */
bool away[TASKS];     /* sent, and neither done nor declined nor taken back: for the assertions alone */
bool waiting[TASKS];  /* its join waits */
byte floor_before[TASKS];
byte on_top[TASKS];   /* what the owner runs on top of that wait; TASKS: nothing */

/* task channels: tasks [first, last) */
byte channel[WORKERS];
byte first[WORKERS], last[WORKERS];

/* the owner's */
byte top, bottom, floor;

/* received, and not begun */
byte next[WORKERS], end[WORKERS];
bool asking[WORKERS];

bool finished;

#define WAITS (top > 0 && waiting[top - 1] && on_top[top - 1] == NOBODY && future[top - 1] == PENDING)
#define HAS_SOME \
  (next[OWNER] != end[OWNER] || top > bottom || (bottom != floor && bottom != 0 && future[bottom - 1] == DECLINED))

inline own_declined() {
  do
#ifdef MUTANT_HAS_NO_FLOOR
  :: bottom != 0 && future[bottom - 1] == DECLINED ->
#else
  :: bottom != floor && bottom != 0 && future[bottom - 1] == DECLINED ->
#endif
     bottom--;
     assert(!away[bottom] && runs[bottom] == 0);
#ifndef MUTANT_DOES_NOT_CLEAR
     future[bottom] = PENDING
#endif
  :: else -> break
  od
}

/* Fewer states: an empty range is [0, 0). */
inline normalise(me) {
  if
  :: next[me] == end[me] -> next[me] = 0; end[me] = 0
  :: else
  fi
}

inline take_out(me) {
  next[me] = first[me]; end[me] = last[me]; first[me] = 0; last[me] = 0;
  normalise(me)
}

/* One task or half of them, of what was received, else of its own. */
inline give(me, to, count) {
  if
  :: next[me] != end[me] ->
     if
     :: count = 1
     :: count = (end[me] - next[me] + 1) / 2
     fi;
     first[to] = next[me]; last[to] = next[me] + count;
     next[me] = next[me] + count;
     normalise(me);
     assert(away[first[to]] && away[last[to] - 1])
  :: else ->
     assert(me == OWNER);
     if
     :: count = 1
     :: count = (top - bottom + 1) / 2
     fi;
     first[to] = bottom; last[to] = bottom + count;
     do
     :: count > 0 ->
        assert(!away[bottom] && runs[bottom] == 0 && future[bottom] == PENDING);
        away[bottom] = true; sent_to[bottom] = to; bottom++; count--
     :: else -> break
     od
  fi;
  channel[to] = FULL; count = 0
}

/* Tasks that came too late, from the newest on; `i` is their end. */
inline decline(i, from) {
  do
  :: atomic { i > from -> i--; away[i] = false; future[i] = DECLINED }
  :: else -> break
  od
}

/* Nothing of what it received is left, and nothing comes. */
inline give_back(me, i, from) {
  if
  :: asking[me] ->
     if
     :: atomic { channel[me] == OPEN -> channel[me] = CLOSED; asking[me] = false }
     :: atomic { channel[me] == FULL ->
          channel[me] = CLOSED; asking[me] = false;
          i = last[me]; from = first[me]; first[me] = 0; last[me] = 0
        };
#ifndef MUTANT_DROPS_WHAT_COMES_LATE
        decline(i, from);
#endif
        atomic { i = 0; from = 0 }
     fi
  :: else
  fi;
#ifndef MUTANT_KEEPS_WHAT_IT_RECEIVED
  atomic { i = end[me]; from = next[me]; next[me] = 0; end[me] = 0 };
  decline(i, from);
  atomic { i = 0; from = 0 }
#endif
}

active proctype owner() {
  byte forks, count, to, t, i, from;
  bool gets;
  atomic {
    t = 0;
    do
    :: t < TASKS -> on_top[t] = NOBODY; t++
    :: else -> break
    od;
    t = 0
  }
  do
  /* It is in its own code, or in a task on top of a wait. */
  :: atomic { forks < FORKS && top < TASKS && (top == 0 || !waiting[top - 1] || on_top[top - 1] != NOBODY) ->
       assert(!away[top] && future[top] == PENDING);
       forks++; runs[top] = 0; top++
     }
  :: atomic { top > 0 && !waiting[top - 1] ->   /* a join begins */
       top--; t = top
     }
     if
     :: t >= bottom -> atomic { assert(!away[t] && runs[t] == 0 && future[t] == PENDING); runs[t]++ }
     :: else ->
        gets = false;
        if
        :: atomic { channel[sent_to[t]] == FULL ->
             to = sent_to[t];
#ifdef MUTANT_TAKES_BACK_ANY
             gets = last[to] != first[to];
#else
             gets = last[to] == t + 1 && last[to] != first[to];
#endif
             if
             :: gets -> i = first[to]; last[to] = first[to]
             :: else
             fi;
             to = 0
           }
        :: else
        fi;
        if
        :: gets ->
           atomic {
             bottom = i;
             do
             :: i <= t -> assert(away[i] && runs[i] == 0 && future[i] == PENDING); away[i] = false; sent_to[i] = 0; i++
             :: else -> break
             od;
             i = 0; runs[t]++
           }
        :: else -> atomic { top = t + 1; floor_before[t] = floor; floor = top; waiting[t] = true }
        fi
     fi;
     atomic { t = 0; to = 0; gets = false }
  :: atomic { top > 0 && waiting[top - 1] && on_top[top - 1] != NOBODY ->   /* a task on top of a wait ends */
       t = on_top[top - 1]; on_top[top - 1] = NOBODY;
       away[t] = false; future[t] = DONE; t = 0
     }

  /* In a wait. */
  :: atomic { WAITS && next[OWNER] != end[OWNER] ->
       t = next[OWNER]; next[OWNER]++; normalise(OWNER);
       assert(away[t] && runs[t] == 0); runs[t]++;
       on_top[top - 1] = t; t = 0
     }
  :: atomic { WAITS && next[OWNER] == end[OWNER] && asking[OWNER] && channel[OWNER] == FULL ->
       channel[OWNER] = CLOSED; asking[OWNER] = false; take_out(OWNER)
     }
  :: atomic { WAITS && next[OWNER] == end[OWNER] && !asking[OWNER] -> channel[OWNER] = OPEN; asking[OWNER] = true }
  :: atomic { top > 0 && waiting[top - 1] && on_top[top - 1] == NOBODY && future[top - 1] != PENDING -> t = top - 1 };
     give_back(OWNER, i, from);
     atomic {
       top = t; bottom = t; waiting[t] = false;
#ifndef MUTANT_FLOOR_STAYS
       floor = floor_before[t];
#endif
       floor_before[t] = 0;
       count = future[t]; future[t] = PENDING; sent_to[t] = 0;
       own_declined();
#ifndef MUTANT_TAKES_DECLINED_FOR_DONE
       if
       :: count == DECLINED -> assert(runs[t] == 0); runs[t]++
       :: else
       fi;
#endif
       assert(runs[t] == 1 && !away[t]);
       count = 0; t = 0
     }

  /* Serves, in a wait or elsewhere. */
  :: atomic { HAS_SOME && (channel[1] == OPEN || channel[2] == OPEN) ->
       own_declined();
       if
       :: channel[1] == OPEN -> to = 1
       :: channel[2] == OPEN -> to = 2
       fi;
       give(OWNER, to, count);
       to = 0
     }
  :: atomic { forks == FORKS && top == 0 -> break }
  od;
  finished = true
}

proctype thief(byte me) {
  byte running = NOBODY;
  byte gave_back, count, to, i, from;
end_idle: do
  :: atomic { !asking[me] && next[me] == end[me] -> channel[me] = OPEN; asking[me] = true }  /* early, perhaps */
  :: atomic { asking[me] && channel[me] == FULL && running == NOBODY ->
       channel[me] = CLOSED; asking[me] = false; take_out(me)
     }
  :: atomic { next[me] != end[me] && running == NOBODY ->
       running = next[me]; next[me]++; normalise(me);
       assert(away[running] && runs[running] == 0); runs[running]++
     }
  :: atomic { running != NOBODY -> away[running] = false; future[running] = DONE; running = NOBODY }
  :: atomic { next[me] != end[me] && (channel[OWNER] == OPEN || channel[3 - me] == OPEN) ->
       if
       :: channel[OWNER] == OPEN -> to = OWNER
       :: channel[3 - me] == OPEN -> to = 3 - me
       fi;
       give(me, to, count);
       to = 0
     }
  /* Something else begins, in a task or between two: it may never end. */
  :: atomic { gave_back < GIVE_BACKS && (asking[me] || next[me] != end[me]) -> gave_back++ };
     give_back(me, i, from);
     if
     :: running == NOBODY -> break
     :: skip
     fi
  od
}

active proctype observer() {
  /* Nothing moves any more. */
  timeout -> assert(finished)
}

init { atomic { run thief(1); run thief(2) } }
