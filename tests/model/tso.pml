/* SPDX-License-Identifier: MIT */
/*
 * tso.pml - memory as x86 shows it: each process stores into a FIFO of its own, which drains into
 * memory at any later time.
 *
 * A load reads memory and not the process's own FIFO: in these models no process loads a word that
 * it stores itself.  A sequentially consistent store is a store and a drain.  System calls drain
 * nothing here, though the kernel's do, so a model that passes does not rely on that.
 *
 * The including model defines WORDS, how many words of memory there are.
 */
#define PROCESSES 2
#define DEPTH     8

byte mem[WORDS];
chan buffer[PROCESSES] = [DEPTH] of { byte, byte };

inline store(me, address, value)
{
	buffer[me]!address,value
}

inline drain(me)
{
	empty(buffer[me])
}

active [PROCESSES] proctype memory()
{
	byte address, value;

end:	do
	:: d_step {
		buffer[_pid]?address,value;
		mem[address] = value;
		address = 0;
		value = 0
	   }
	od
}

/* Free-running indices are bytes here, so they wrap at 256. */
#define DISTANCE(to, from) (((to) - (from)) & 255)
