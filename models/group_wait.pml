/* A task group, src/runtime/task_groups.md: one waiter and one helper, a list of tasks each. A task may add another one. An
   outsider adds a task to the waiter's list, or, with AT_ONCE, runs it at once; the wait does not begin without it. SC: all words
   are changed by locked instructions and seq_cst stores. A list's lock is an atomic step, but for the outsider's; counts are read
   without it, one after the other. Not modelled: other sleepers of the pool, futures.

   Checked: wait() returns after the last task; nobody touches the group after its end; while tasks wait in lists nobody sleeps;
   the waiter does not sleep for ever. */

#define WAITER 0
#define HELPER 1
#define OTHER(p) (1 - (p))

#ifndef TASKS
#define TASKS 4
#endif

byte size[2];
byte added[2];
byte over[2];
byte waiters;
byte changes;
bool announced;       /* the helper sleeps, or is about to */
bool waiter_sleeps;
bool open = true;     /* the group is in the pool's list */
bool list_is_locked;  /* that list */
byte helpers;
bool outsider_holds;  /* the lock of the waiter's list */
bool is_added;        /* the outsider's task, or it runs at once */
byte at_once;         /* tasks that do */
byte wakers;          /* outsiders that wake the helper */
bool gone;            /* the group and its pool */
byte made;
byte ended;
bool lasts[2];        /* it runs a task that ends when nothing else moves */

inline wake_waiters(p) {
  assert(!gone);
  if
  :: waiters > 0 -> changes++
  :: else
  fi
}
inline wake_helper() {
  if
  :: announced -> announced = false
  :: else
  fi
}

inline add(p) {
  made++;
#ifdef MUTANT_WAKES_FIRST
  wake_waiters(p);
  wake_helper();
  atomic { added[p]++; size[p]++ }
#else
  assert(!gone);
  added[p]++;
  size[p]++;
  wake_waiters(p);
  wake_helper()
#endif
}

/* number: of tasks taken */
inline pop(p, number) {
  assert(!gone);
  atomic {
    !(outsider_holds && p == WAITER);
    number = 0;
    if
    :: size[p] > 0 -> size[p]--; number = 1
    :: else
    fi
  }
  if
  :: number == 0 ->
     atomic {
       !(outsider_holds && p == HELPER);
       if
       :: size[OTHER(p)] > 0 -> number = (size[OTHER(p)] + 1) / 2; size[OTHER(p)] = size[OTHER(p)] - number
       :: else
       fi
     }
     if
     :: number > 1 ->
        size[p] = size[p] + number - 1;
        number = 1;
#ifndef MUTANT_PUTS_IN_SILENCE
        wake_waiters(p);
        wake_helper()
#endif
     :: else
     fi
  :: else
  fi
}

inline run_task(p) {
#ifdef MUTANT_COUNTS_BEFORE_IT_ENDS
  over[p]++;
#endif
  if
  :: made < TASKS -> add(p)
  :: true
  fi;
  if
  :: lasts[p] = true; !lasts[p]
  :: true
  fi;
  ended++;
#ifndef MUTANT_COUNTS_BEFORE_IT_ENDS
#ifdef MUTANT_WAKES_BEFORE_THE_COUNT
  wake_waiters(p);
  over[p]++;
#else
  assert(!gone);
  over[p]++;
  wake_waiters(p)
#endif
#else
  wake_waiters(p)
#endif
}

inline look_if_over(is_over) {
  counted = 0;
  is_over = true;
#if defined(AT_ONCE) && !defined(MUTANT_READS_AT_ONCE_LAST)
  is_over = (at_once == 0);
#endif
#ifdef MUTANT_READS_ADDED_FIRST
  counted = counted + added[0];
  counted = counted + added[1];
  counted = counted - over[0];
  counted = counted - over[1];
#else
  counted = counted + over[0];
  counted = counted + over[1];
  counted = counted - added[0];
  counted = counted - added[1];
#endif
  is_over = (is_over && counted == 0);
#ifdef MUTANT_READS_AT_ONCE_LAST
  is_over = (is_over && at_once == 0);
#endif
  counted = 0
}

active proctype waiter() {
  byte got;
  byte seen;
  bool is_over;
  short counted;
  add(WAITER);
  add(WAITER);
  is_added;
  do
  :: true ->
     pop(WAITER, got);
     if
     :: got > 0 -> run_task(WAITER)
     :: else ->
        look_if_over(is_over);
        if
        :: is_over -> break
        :: else ->
#ifdef MUTANT_ANNOUNCES_LAST
           seen = changes;
           if
           :: size[0] > 0 -> goto awake
           :: else
           fi;
           if
           :: size[1] > 0 -> goto awake
           :: else
           fi;
           look_if_over(is_over);
           waiters++;
#else
           waiters++;
           seen = changes;
           if
           :: size[0] > 0 -> goto awake
           :: else
           fi;
           if
           :: size[1] > 0 -> goto awake
           :: else
           fi;
#ifndef MUTANT_SLEEPS_WITHOUT_LAST_LOOK
           look_if_over(is_over);
#endif
#endif
           if
           :: !is_over -> waiter_sleeps = true; changes != seen; waiter_sleeps = false
           :: else
           fi;
awake:
           atomic { if :: waiters > 0 -> waiters-- :: else fi }
        fi
     fi;
     got = 0; seen = 0; is_over = false
  od;
  assert(ended == made);
  atomic { !list_is_locked -> open = false }
#ifndef MUTANT_ENDS_BEFORE_ITS_HELPERS
  helpers == 0;
#endif
  !outsider_holds;
#ifndef MUTANT_ENDS_BEFORE_ITS_WAKERS
  wakers == 0;
#endif
  gone = true
}

inline run_at_once() {
#ifndef MUTANT_AT_ONCE_IS_NOT_COUNTED
  at_once++;
#endif
  atomic { made++; is_added = true }
  if
  :: add(WAITER)
  :: true
  fi;
  ended++;
  atomic { !outsider_holds -> outsider_holds = true }
  assert(!gone);
#ifndef MUTANT_AT_ONCE_IS_NOT_COUNTED
  at_once--;
#endif
#ifndef MUTANT_ENDS_AT_ONCE_IN_SILENCE
  wake_waiters(WAITER);
#endif
  outsider_holds = false
}

inline add_outside() {
  atomic { !outsider_holds -> outsider_holds = true; made++ }
  added[WAITER]++;
  atomic { size[WAITER]++; is_added = true }
  wake_waiters(WAITER);
#ifdef MUTANT_LOOKS_WITHOUT_THE_LOCK
  outsider_holds = false;
#endif
  assert(!gone);
  wakes = announced;
#ifndef MUTANT_LOOKS_WITHOUT_THE_LOCK
  wakers = wakers + wakes;
  outsider_holds = false;
  if
  :: wakes ->
     assert(!gone);
     wake_helper();
     assert(!gone);
     wakers--
  :: else
  fi
#endif
}

active proctype outsider() {
#ifdef AT_ONCE
  run_at_once()
#else
  bool wakes;
  add_outside()
#endif
}

active proctype helper() {
  byte got;
  bool found;
end:
  do
  :: atomic { !list_is_locked -> list_is_locked = true }
     found = false;
     if
     :: open ->
        assert(!gone);
        if
        :: size[0] > 0 -> found = true
        :: else
        fi;
        if
        :: size[1] > 0 -> found = true
        :: else
        fi
     :: else
     fi;
     atomic { helpers = helpers + found; list_is_locked = false }
     if
     :: found ->
        announced = false;
        pop(HELPER, got);
        if
        :: got > 0 -> run_task(HELPER)
        :: else
        fi;
        got = 0;
        helpers--
     :: else ->
        if
        :: announced ->
end_asleep:
           !announced
        :: else -> announced = true
        fi
     fi
  od
}

/* When nothing else moves. */
active proctype observer() {
end:
  do
  :: timeout ->
     atomic {
       if
       :: lasts[0] || lasts[1] ->
          assert(!(announced && size[0] + size[1] > 0));
          assert(!(waiter_sleeps && size[0] + size[1] > 0));
          lasts[0] = false;
          lasts[1] = false
       :: else -> break
       fi
     }
  od
}
