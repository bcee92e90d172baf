# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Is there a call where a stack says that there is one? Recorded frames against the bytecode of the classes that they name.

A frame of a caller has the bci of the instruction that it is in. That must be a call, of the name and type of the method above it.
What is not checked, and why:
- a stack with an error frame: it says itself that it is not whole;
- Java above native frames: the JVM or a library has called it, for a reason that no bytecode shows (<clinit>, loadClass, JNI);
- callers without bytes on the class path (proxies, lambdas' classes, LambdaForms, classes made at run time): counted as `blind`."""

import collections
import random
import subprocess

NO_BCI = 0xFFFF
LONGEST_TYPE = 512  # the agent keeps no more of a method's descriptor (agent/sampling/name_store.cpp)
NATIVE, ABSTRACT = 0x100, 0x400  # JVMS table 4.6-A
CALLS, STATIC, SPECIAL, DYNAMIC = range(182, 187), 184, 183, 186
JAVA = {"interpreted", "c1", "c2", "inlined", "java", "javanative"}

Method = collections.namedtuple("Method", "access code")  # code: bci -> (opcode, owner, name, descriptor)
Frame = collections.namedtuple("Frame", "kind holder name type bci")
POLYMORPHIC = ("java/lang/invoke/MethodHandle", "java/lang/invoke/VarHandle")  # their callers' types are made up at each call (JVMS 2.9.3)
LINKERS = {"linkToStatic", "linkToVirtual", "linkToSpecial", "linkToInterface", "linkToNative", "invokeBasic"}  # they jump on
# Which methods the JVM calls first in a thread, and those by which its launcher begins.
FIRST = {
    "run", "main", "exit", "dispatch", "dispatchUncaughtException", "checkAndLoadMain", "<clinit>", "<init>", "initPhase1", "initPhase2",
    "initPhase3", "callFinalizers", "enqueuePendingReferences", "runFinalizer", "getAgentProperties", "executeCommand", "shutdown",
}  # fmt: skip


def same_type(recorded, whole):
    return recorded == whole or (len(recorded) >= LONGEST_TYPE and whole.startswith(recorded))


class Classes:
    """Bytecode of an application's classes, as its own JVM and class path give them."""

    def __init__(self, command):
        self.command = command  # runs Bytecode.java
        self.known = {}

    def load(self, names):
        wanted = sorted({name for name in names if name not in self.known})
        done = subprocess.run(self.command, input="\n".join(wanted) + "\n", capture_output=True, text=True, check=True)
        self.known.update(dict.fromkeys(wanted))
        lines = iter(done.stdout.split("\n"))
        for line in lines:
            words = line.split("\t")
            if words[0] == "class":
                self.known[words[1]] = (words[2:], self.methods(lines))

    @staticmethod
    def methods(lines):
        found = {}
        while (line := next(lines)) != "end":
            _, name, kind, access, *code = line.split("\t")
            pieces = (instruction.split(":") for instruction in code)
            found[name, kind] = Method(int(access), {int(bci): (int(opcode), *call) for bci, opcode, *call in pieces})
        return found

    def method(self, frame):
        """None where it cannot be known."""
        found = self.known.get(frame.holder)
        if not found:
            return None
        if len(frame.type) < LONGEST_TYPE:
            return found[1].get((frame.name, frame.type))
        alike = [method for (name, kind), method in found[1].items() if name == frame.name and same_type(frame.type, kind)]
        return alike[0] if len(alike) == 1 else None

    def descends(self, lower, upper):
        """None where a class between them cannot be known."""
        if lower == upper:
            return True
        found = self.known.get(lower)
        if found is None:
            return None if lower != "-" else False
        answers = [self.descends(name, upper) for name in found[0] if name != "-"]
        return True if True in answers else None if None in answers else False

    def load_ancestors(self):
        while missing := {n for f in self.known.values() if f for n in f[0] if n != "-" and n not in self.known}:
            self.load(missing)


def fault_of_call(classes, callee, caller):
    """Why `caller` cannot have called `callee`, "" if it can have, None where that cannot be known."""
    if caller.kind == "java" and callee.name in BY_THE_JVM:
        return None
    if caller.kind == "javanative":
        # A virtual thread's first frame; all other native methods have frames of their library between.
        return "" if caller.name in {"enterSpecial", *LINKERS} else "a native method calls without a native frame"
    method = classes.method(caller)
    if method is None:
        return None
    if caller.kind == "java" and method.access & NATIVE:
        return None
    if caller.bci == NO_BCI:  # what the JVM's own tables say of code that C2 has moved: then any call of the method may be meant
        faults = [fault_of_instruction(classes, callee, caller, instruction) for instruction in method.code.values()]
        return "" if "" in faults else "no instruction calls that"
    if caller.bci not in method.code:
        return f"bci {caller.bci} is no instruction"
    return fault_of_instruction(classes, callee, caller, method.code[caller.bci])


def fault_of_instruction(classes, callee, caller, instruction):
    opcode, *call = instruction
    if opcode not in CALLS:
        return f"bci {caller.bci} is no call (opcode {opcode})"
    owner, name, kind = call
    if opcode == DYNAMIC:
        return "" if callee.holder.startswith("java/lang/invoke/") else f"bci {caller.bci} is invokedynamic"
    if owner in POLYMORPHIC and (name in LINKERS or callee.holder.startswith("java/lang/invoke/")):
        return ""
    if name != callee.name or not same_type(callee.type, kind):
        return f"bci {caller.bci} calls {owner}.{name}{kind}"
    if opcode in (STATIC, SPECIAL) and classes.descends(owner, callee.holder) is False:
        return f"bci {caller.bci} calls {owner}.{name}"
    return ""


def fault_of_frame(classes, frame):
    """A frame that cannot be, whoever calls whom."""
    method = classes.method(frame)
    if method is None:
        return ""
    if method.access & ABSTRACT:
        return "the method is abstract"
    if frame.kind != "java" and (frame.kind == "javanative") != bool(method.access & NATIVE):
        return "a native method as Java code, or the other way round"
    if frame.kind != "javanative" and frame.bci != NO_BCI and frame.bci not in method.code:
        return f"bci {frame.bci} is within an instruction"
    return ""


# What the JVM calls where a method has called something else. A profiler that shows Java frames alone (kind "java") shows it as called.
BY_THE_JVM = {
    "<clinit>", "<init>", "loadClass", "loadClassInternal", "checkPackageAccess", "linkCallSite", "linkMethod", "linkMethodHandleConstant",
    "linkDynamicConstant", "findMethodHandleType", "register",
}  # fmt: skip


class Verdict:
    """Of all stacks of a capture."""

    def __init__(self):
        self.stacks = self.flagged = self.impossible = self.calls = self.blind = 0
        self.examples = collections.Counter()  # (fault, frames around it) -> how often
        self.leaves = collections.Counter()  # of impossible stacks
        self.unknown = collections.Counter()  # callers without bytes

    def __str__(self):
        return (f"{self.stacks} stacks, {self.flagged} flagged, {self.impossible} impossible; {self.calls} calls looked at, "
                f"{self.blind} blind")  # fmt: skip


def around(stack, at):
    return tuple(f"{'>' if i == at else ' '} {describe(stack[i])}" for i in range(max(0, at - 3), min(len(stack), at + 5)))


def describe(frame):
    return f"{frame.kind:11} {frame.holder}.{frame.name}{frame.type} @{frame.bci}" if frame.kind in JAVA else f"{frame.kind:11} {frame.name}"


def fault_of_root(stack, rooted):
    """A whole stack goes down to its thread's first frame, which is native (`rooted`; None: as far as Java frames go); the first Java frame is
    one that the JVM calls."""
    java = [i for i, frame in enumerate(stack) if frame.kind in JAVA]
    if not java:
        return None
    if rooted and java[-1] == len(stack) - 1:
        return java[-1], "no native frame is below"
    return (java[-1], "no JVM begins with it") if stack[java[-1]].name not in FIRST else None


def first_fault(classes, stack, rooted, verdict):
    """(index, why) of the first frame that cannot be, leaf first; counts what it looks at."""
    for i, frame in enumerate(stack):
        if frame.kind not in JAVA or frame.holder == "":
            continue
        if fault := fault_of_frame(classes, frame):
            return i, fault
        if i + 1 < len(stack) and stack[i + 1].kind in JAVA and stack[i + 1].holder:
            fault = fault_of_call(classes, frame, stack[i + 1])
            verdict.calls += 1
            if fault is None:
                verdict.blind += 1
                verdict.unknown[stack[i + 1].holder] += 1
            if fault:
                return i, fault
    return fault_of_root(stack, rooted)


def judge(stacks, classes, rooted=True):
    """`stacks`: tuples of frames, leaf first -> how often. `rooted`: whether each must end in a native frame (not on musl)."""
    classes.load({frame.holder for stack in stacks for frame in stack if frame.holder})
    classes.load_ancestors()
    verdict = Verdict()
    for stack, count in stacks.items():
        verdict.stacks += count
        if any(frame.kind == "error" for frame in stack):
            verdict.flagged += count
        elif found := first_fault(classes, stack, rooted, verdict):
            verdict.impossible += count
            verdict.examples[found[1], around(stack, found[0])] += count
            leaf = stack[0]
            verdict.leaves[leaf.name if leaf.kind == "stub" else leaf.kind] += count
    return verdict


def sharpness(stacks, classes, rooted=True, tries=1000):
    """Of good stacks that had one frame taken out, the share that is then found to be impossible; None if there are none."""
    chance = random.Random(919)
    cut = found = 0
    for stack in chance.sample(sorted(stacks, key=len), min(tries, len(stacks))):
        inner = [i for i in range(1, len(stack) - 1) if all(frame.kind in JAVA and frame.holder for frame in stack[i - 1 : i + 2])]
        if not inner or first_fault(classes, stack, rooted, Verdict()):
            continue
        lost = chance.choice(inner)
        cut += 1
        found += first_fault(classes, stack[:lost] + stack[lost + 1 :], rooted, Verdict()) is not None
    return found / cut if cut else None
