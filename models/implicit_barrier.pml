/* The implicit scheduler's return barrier. Polls, handlers of interrupts and the barrier itself offer frames; children
   return and throw; thieves enter landing pads. Joins and spawned tasks lie on one fiber, which two workers run in turn; there
   are two thieves. Memory is sequentially consistent: implicit_offers.pml models the orders. Argument:
   src/schedulers/implicit/protocol.md. Not modelled: spawns into an older scope.

   Checked: each g runs once; children return by the barrier or to their caller; backtraces are right; no record is left. */

#ifndef DEEP
#define DEEP 3  /* on the stack at a time */
#endif
#ifndef FORKS
#define FORKS 3
#endif

/* what lies on the stack */
#define JOIN 1    /* a frame that is in its child's call */
#define SCOPE 2   /* a spawned task that waits */
#define NO_INFO 3 /* a frame without unwind information: hides what is older */

#define BARRIER 15
#define NOWHERE 15

byte frames;
byte what[DEEP];
byte id[DEEP];
byte returns_to[DEEP];  /* the slot with the return address of a join frame's child: the frame's id, or the barrier */

/* the stack's header */
byte tail, head;
byte record[DEEP];      /* which frame, by its place */
bool landed[DEEP];      /* a record's */
bool arrived[DEEP];     /* its thief, at the join counter */
byte barrier_slot = NOWHERE;
byte hidden_return;

bit runner;             /* which of the two workers the fiber is on */
bool busy[2];           /* is_busy */
bool in_handler;
bool uncaught;          /* an exception is on its way */
bool at_poll;           /* in a destructor meanwhile */
bool finished;

short ran;              /* a bit a frame: its g was run, or will never be */

inline run_once(whose) {
  assert((ran & (1 << whose)) == 0);
  ran = ran | (1 << whose)
}

/* The return address that an unwinder finds. */
#define SEEN(i) (returns_to[i] == BARRIER -> hidden_return : returns_to[i])
#define PASSES(i) (i >= frames || what[i] != JOIN || SEEN(i) == id[i])

#define IS_OFFERED(i) (head > 0 && record[head - 1] >= i)

#ifdef MUTANT_NEVER_BUSY
#define BEGIN_CHANGE(w) skip
#else
#define BEGIN_CHANGE(w) busy[w] = true
#endif
#define END_CHANGE(w) busy[w] = false

/* put_barrier() */
inline put_barrier(at) {
  barrier_slot = at;
  hidden_return = returns_to[at];
  returns_to[at] = BARRIER
}

/* pop(): the barrier moves to the next older join. */
inline pop() {
  d_step {
    barrier_slot = NOWHERE;
    j = head;
    do
    :: j > 0 && what[record[j - 1]] != JOIN ->
#ifdef MUTANT_STOPS_AT_SPAWNED
       j = 0
#else
       j--
#endif
    :: else -> break
    od
  };
#ifndef MUTANT_BARRIER_STAYS_GONE
  if
  :: j > 0 -> put_barrier(record[j - 1])
  :: else
  fi;
#endif
  j = 0
}

/* publish_from(): of the frames that are newer than the newest record, the oldest. */
inline publish() {
  BEGIN_CHANGE(runner);
  d_step {
    n = 0;
#ifndef MUTANT_OFFERS_OLDER
    if
    :: head > 0 -> n = record[head - 1] + 1
    :: else
    fi;
#endif
    j = n;
    do
    :: j < frames ->
       if
       :: what[j] == NO_INFO -> n = j + 1
       :: else
       fi;
       j++
    :: else -> break
    od;
    j = 0;
    k = head;
    newest_join = NOWHERE
  };
  /* Some of it, or all: that is policy. */
  do
  :: n < frames ->
     d_step {
       record[k] = n;
       landed[k] = false;
       arrived[k] = false
     };
     if
     :: what[n] == JOIN ->
#ifdef MUTANT_BARRIER_AT_OLDEST
        if
        :: newest_join == NOWHERE -> newest_join = n
        :: else
        fi;
#else
        newest_join = n;
#endif
        if  /* its pad has to be run */
        :: landed[k] = true
        :: skip
        fi
     :: else
     fi;
     k++;
     n++
  :: k > head || n >= frames -> break
  od;
  if
  :: newest_join != NOWHERE ->
#ifndef MUTANT_OLD_BARRIER_STAYS
     if
     :: barrier_slot != NOWHERE -> returns_to[barrier_slot] = hidden_return
     :: else
     fi;
#endif
     put_barrier(newest_join)
  :: else
  fi;
  d_step {
    head = k;
    k = 0;
    n = 0;
    newest_join = 0
  };
  END_CHANGE(runner)
}

inline leave() {
  d_step {
    frames--;
    what[frames] = 0;
    id[frames] = 0;
    returns_to[frames] = 0
  }
}

/* child_is_done(), and what follows */
inline child_is_done() {
  atomic { assert(barrier_slot == top); assert(head > 0 && record[head - 1] == top) };
  if
  :: !threw -> returns_to[top] = hidden_return
  :: threw
  fi;
  me = runner;
  BEGIN_CHANGE(me);
  if
  :: atomic { tail < head -> head--; is_stolen = false }
  :: atomic { tail == head -> is_stolen = true };
     END_CHANGE(me);
#ifndef MUTANT_DOES_NOT_WAIT
     arrived[head - 1];
#endif
     if  /* the last to arrive continues the fiber */
     :: skip
     :: runner = 1 - runner
     fi;
#ifndef MUTANT_STAYS_BUSY_WHERE_IT_WAS
     me = runner;
#endif
     BEGIN_CHANGE(me);
     atomic { assert(arrived[head - 1]); head--; tail-- }
  fi;
  if
#ifdef MUTANT_RETURNS_THOUGH_LANDED
  :: !threw && !is_stolen ->
     assert(!landed[head]);
#elif defined(MUTANT_RETURNS_THOUGH_STOLEN)
  :: !threw ->
     assert(!landed[head]);
#else
  :: !threw && !landed[head] ->
#endif
     assert(!is_stolen);
     pop();
     END_CHANGE(me);
     /* From here on the frame may be offered again: then this goes to the barrier once more. */
  :: else ->
     /* The frame continues at its landing pad. */
     whose = id[top];
     leave();
     pop();
     END_CHANGE(me);
     if
     :: is_stolen -> d_step { assert((ran & (1 << whose)) != 0) }
     :: else -> d_step { run_once(whose) }
     fi;
     whose = 0;
     is_done = true
  fi;
  d_step { me = 0; is_stolen = false }
}

proctype fiber() provided (!in_handler) {
  byte next = 1, top, whose, j;
  bit me;
  bool threw, is_stolen, is_done;

  do
  :: atomic {
       frames < DEEP && next <= FORKS ->
       if
       :: what[frames] = JOIN; returns_to[frames] = next
       :: what[frames] = SCOPE
       fi;
       id[frames] = next;
       next++;
       frames++
     }
  :: atomic { frames < DEEP && frames > 0 && next <= FORKS && what[frames - 1] != NO_INFO -> what[frames] = NO_INFO; frames++ }
  :: frames > 0 && what[frames - 1] == NO_INFO -> leave()
  :: frames > 0 && what[frames - 1] == SCOPE ->
     /* frame::sync() */
     top = frames - 1;
     BEGIN_CHANGE(runner);
     if
     :: IS_OFFERED(top) ->
        if
        :: atomic { tail < head -> head-- };
           whose = id[top];
           leave();
           END_CHANGE(runner);
           d_step { run_once(whose) }
        :: atomic { tail == head -> skip };
           END_CHANGE(runner);
           arrived[head - 1];
           if
           :: skip
           :: runner = 1 - runner
           fi;
           BEGIN_CHANGE(runner);
           atomic { head--; tail-- };
           whose = id[top];
           leave();
           END_CHANGE(runner);
           d_step { assert((ran & (1 << whose)) != 0) }
        fi
     :: else ->
        whose = id[top];
        leave();
        END_CHANGE(runner);
        d_step { run_once(whose) }
     fi;
     d_step { top = 0; whose = 0 }
  :: frames > 0 && what[frames - 1] == JOIN ->
     /* The child comes to its end. */
     top = frames - 1;
     if
     :: /* It returns. */
        do
        :: atomic {
             returns_to[top] != BARRIER ->
             assert(returns_to[top] == id[top] && !IS_OFFERED(top));
             whose = id[top];
             leave();
             run_once(whose);
             whose = 0;
             break
           }
        :: returns_to[top] == BARRIER ->
           child_is_done();
           if
           :: is_done -> break
           :: !is_done
           fi
        od
     :: /* It throws. Destructors may fork on the way. */
        uncaught = true;
        at_poll = true;
        at_poll = false;
        if
        :: returns_to[top] == BARRIER ->
           d_step { uncaught = false; threw = true };
           child_is_done()
        :: returns_to[top] != BARRIER ->
           /* The unwinder has made up its mind, and goes to the frame's own handler. */
           atomic { assert(!IS_OFFERED(top)); whose = id[top]; leave(); run_once(whose); whose = 0; uncaught = false }
        fi
     fi;
     atomic { threw = false; is_done = false; top = 0 }
  :: frames == 0 && next > FORKS -> break
  od;
  atomic {
    assert(head == 0 && tail == 0 && barrier_slot == NOWHERE && !busy[0] && !busy[1]);
    assert(ran == (1 << next) - 2);
    finished = true
  }
}

#ifdef MUTANT_INTERRUPTS_UNWINDER
#define MAY_PUBLISH !busy[runner]
#else
#define MAY_PUBLISH !busy[runner] && (!uncaught || at_poll)
#endif

/* A poll, or an interrupt: on the fiber's own thread, which does nothing else meanwhile. */
proctype handler() {
  byte j, k, n, newest_join;

  end: do
  :: atomic {
       MAY_PUBLISH && !finished -> in_handler = true
     };
     publish();
     in_handler = false
  od
}

proctype thief() {
  byte t, at, whose;

  end: do
  :: atomic { tail < head -> t = tail; tail++ };
     at = record[t];
     atomic { whose = id[at]; assert(at < frames && what[at] != NO_INFO) };
     if
     :: what[at] == JOIN ->
        /* Lands: it writes into the frame, whose child still runs, or waits. */
        atomic { assert(at < frames && id[at] == whose); landed[t] = true }
     :: else
     fi;
     d_step { run_once(whose) };
     atomic { arrived[t] = true; t = 0; at = 0; whose = 0 }
  od
}

/* At each instruction a backtrace passes every frame. */
proctype profiler() {
  end: atomic { !(PASSES(0) && PASSES(1) && PASSES(2)) -> assert(false) }
}

init {
  atomic {
    run fiber();
    run handler();
    run thief();
    run thief();
    run profiler()
  }
}
