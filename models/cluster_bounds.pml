/* Bounds on a tree of four ranks: numbers that only rise. Tasks of two ranks raise theirs, while another thread of each
   rank looks, receives and sends. Messages arrive in any order.

   Checked: all ranks end with the greatest value; no rank sends more often than its bound rose. */

#define RANKS 4  /* 0 has the children 1 and 2; 1 has 3 */
#define GREATEST 3

byte value[RANKS];
bool improved[RANKS];
byte raised[RANKS];    /* how often */
byte told[RANKS];      /* how often it told its neighbours */
byte under_way[16];    /* to a rank, a value: how many messages */
byte at_work = 2;

#define UNDER_WAY(to, v) under_way[(to) * 4 + (v)]

#define IS_GREATEST(r) (value[r] == GREATEST)

/* Where the value was less. */
inline raise(r, v, rises) {
#ifdef MUTANT_MARKS_FIRST
  if
  :: value[r] < v -> improved[r] = true
  :: else
  fi;
#endif
#ifdef MUTANT_RAISES_WITHOUT_CAS
  rises = (value[r] < v);
  if
  :: rises -> value[r] = v; raised[r]++
  :: else
  fi;
#else
  atomic {
    rises = (value[r] < v);
    if
    :: rises -> value[r] = v; raised[r]++
    :: else
    fi
  };
#endif
#ifndef MUTANT_MARKS_FIRST
  if
  :: rises -> improved[r] = true
  :: else
  fi;
#endif
  rises = false
}

inline tell(me, v) {
  told[me]++;
#ifndef MUTANT_MARKS_FIRST
  assert(told[me] <= raised[me]);   /* so it ends */
#endif
  if
  :: me == 0 -> UNDER_WAY(1, v)++; UNDER_WAY(2, v)++
  :: me == 1 -> UNDER_WAY(0, v)++; UNDER_WAY(3, v)++
  :: me == 2 -> UNDER_WAY(0, v)++
  :: me == 3 -> UNDER_WAY(1, v)++
  fi
}

proctype looker(byte me) {
  byte v;
  bool rises;
end: do
  :: improved[me] ->
#ifdef MUTANT_CLEARS_THE_MARK_LAST
     v = value[me];
     improved[me] = false;
#else
     improved[me] = false;
     v = value[me];
#endif
     atomic { tell(me, v); v = 0 }
  :: atomic { UNDER_WAY(me, 2) > 0 -> UNDER_WAY(me, 2)--; v = 2 }; raise(me, v, rises); v = 0
  :: atomic { UNDER_WAY(me, 3) > 0 -> UNDER_WAY(me, 3)--; v = 3 }; raise(me, v, rises); v = 0
  od
}

proctype task_of_3() {
  bool rises;
  raise(3, GREATEST, rises);
  at_work--
}

proctype task_of_2() {
  bool rises;
  raise(2, 2, rises);
  at_work--
}

active proctype observer() {
  /* Nothing moves any more. */
  timeout -> assert(at_work == 0 && IS_GREATEST(0) && IS_GREATEST(1) && IS_GREATEST(2) && IS_GREATEST(3))
}

init {
  atomic {
    run looker(0); run looker(1); run looker(2); run looker(3);
    run task_of_2(); run task_of_3()
  }
}
