/* A task group that outlives its call: edge group-6 of src/runtime/task_groups.md. Two calls in turn at one caller's place; the
   first one makes a group. Helpers take it, with the root of the place while the first call lasts (that is, its caller; what it
   forks may go on elsewhere), and fork. The group ends at some time. The lock of the pool's list is a step each; without it the call reads the count of open groups only.

   Checked: while a helper has the root of the place, no later call is at it, and the place is not free; in the end it is free. */

#ifndef HELPERS
#define HELPERS 2
#endif

bool in_use;         /* the place */
byte call;           /* its number: odd while a call lasts */
byte made_in;        /* the group's call; 0: none yet */
byte open;           /* open groups */
bool is_in_list;
bool is_locked;
byte helpers;        /* of the group */
byte with_root;      /* of these, with the root of the place */
bool is_left;        /* the place, by its caller */
byte over;           /* processes */

inline lock() { atomic { !is_locked -> is_locked = true } }
inline unlock() { is_locked = false }

#ifdef MUTANT_ENDS_WITHOUT_LOCK
#define LOCK skip
#define UNLOCK skip
#else
#define LOCK lock()
#define UNLOCK unlock()
#endif
inline end_call() {
  if
  :: open == 0 ->
     call++;
     in_use = false
  :: else ->
     LOCK;
     call++;
#ifdef MUTANT_FREES_THE_PLACE
     UNLOCK;
     in_use = false
#else
     if
     :: with_root != 0 -> is_left = true; UNLOCK
     :: else -> UNLOCK; in_use = false
     fi
#endif
  fi
}

active proctype caller() {
  byte n;
  do
  :: n < 2 ->
     atomic { !in_use -> in_use = true };
     assert(with_root == 0);
     call++;
     if
     :: n == 0 ->
        made_in = call;
        lock();
        atomic { is_in_list = true; open++ };
        unlock()
     :: else
     fi;
     assert(with_root == 0 || call == made_in);
     end_call();
     n++
  :: else -> break
  od;
  over++
}

active [HELPERS] proctype helper() {
  bool has_root;
  bool has_group;
  lock();
  if
  :: is_in_list ->
     has_group = true;
     helpers++;
#ifdef MUTANT_KEEPS_THE_ROOT
     has_root = true
#else
     has_root = (call == made_in)
#endif
     ;
     if
     :: has_root -> with_root++
     :: else
     fi
  :: else
  fi;
  unlock();
  if
  :: has_group ->
     /* It forks. */
     assert(!has_root || (in_use && (call == made_in || call == made_in + 1)));
     lock();
     if
     :: has_root ->
        with_root--;
        if
#ifdef MUTANT_LEAVES_THE_PLACE
        :: false
#else
        :: with_root == 0 && is_left -> is_left = false; in_use = false
#endif
        :: else
        fi
     :: else
     fi;
     helpers--;
     unlock()
  :: else
  fi;
  over++
}

active proctype owner() {
  made_in != 0 && is_in_list;
  lock();
  is_in_list = false;
#ifdef MUTANT_COUNTS_OFF_FIRST
  open--;
#endif
  unlock();
  atomic { helpers == 0 && !is_locked -> is_locked = true };
#ifndef MUTANT_COUNTS_OFF_FIRST
  open--;
#endif
  unlock();
  over++
}

active proctype observer() {
end:
  over == HELPERS + 2;
  assert(!in_use && with_root == 0)
}
