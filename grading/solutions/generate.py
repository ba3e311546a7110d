#!/usr/bin/python3
"""Makes mutants by rule: prints in which ways the reference solutions of a lab could be wrong, as rows of TOML.

usage: generate.py ROOT BUILD FOLDER      such as: generate.py . build/release a9_collectives

A row (README.md, "A row") says which text of a student file is replaced by what. Places are found in the syntax tree
that clang makes of each file, between the markers of the rubric's tasks, inside functions; what only checks something
is left alone.
Needs Python's bindings of libclang: Debian's python3-clang-16, or python3-clang. Without them it ends with 77.
"""

import json
import multiprocessing
import pathlib
import re
import shlex
import sys
import tomllib

try:
    from clang import cindex
except ImportError:
    sys.exit(77)


def pairs(text):
    """What takes the place of what, in both directions: "left right, src dst"."""
    return {a: [b] for one in text.split(", ") for a, b in (one.split(), reversed(one.split()))}


INTEGERS = {"int", "long", "unsigned long", "long long", "unsigned long long", "unsigned int"}
COMMUNICATORS = {"p2p", "p2p_", "comm", "comm_", "collectives", "collectives_"}
RANK_NAMES = {"rank", "self", "pp_rank", "place", "virtual_rank", "stage"}
SIZE_NAMES = {"size", "pp_size", "num_ranks", "num_stages"}
COUNTS = {"size", "power", "count", "number_of_micro_batches", "numel"}
NEIGHBOURS = pairs("left right, src_rank dst_rank, before next, src dst, kept given, have lacking, first last, "
                   "from_peer to_peer, scatter_dim gather_dim") | {"peer": ["rank"]}
OPERATORS = pairs("+ -, * /, && ||, == !=") | {
    "%": ["/"], "<": ["<=", ">"], "<=": ["<", ">"], ">": [">=", "<"], ">=": [">", "<"], "^": ["|", "&"], "&": ["|"],
    "|": ["&"], "+=": ["-=", "="], "-=": ["+=", "="], "*=": ["/=", "="], "/=": ["*=", "="]}
OPERAND_OPERATORS = {"+", "-", "*", "/", "%", "&&", "||", "&", "|", "^"}
TAKES_DIMS = {"narrow", "chunk", "cat", "stack", "select", "transpose", "sum", "mean", "softmax", "size", "flatten",
              "permute", "amax", "unbind", "split", "unsqueeze", "squeeze", "split_with_sizes", "shard", "require_dim"}
SYMMETRIC = {"mse_loss", "max", "min", "maximum", "overlap", "transpose"}  # in their arguments
COPIES = {"clone", "contiguous", "detach"}
REDUCTIONS = {"my_allreduce", "reduce_parallel", "reduce_within_region"}
TYPES = {"static_cast", "Tensor", "Slice", "Request", "size_t", "int64_t", "vector"}
POSTING = re.compile(r"\b(isend|irecv|send|recv|pass_on|pass_on_unless_last|receive)\(")
OTHER_CALLS = pairs(
    "min max, front back, mul_ div_, is_folded has_guest, virtual_rank partner, first_chunk real_rank, own whole, "
    "even_slice uneven_slice, broadcast_parallel reduce_parallel, to_own_heads to_own_positions") | {
    "maximum": ["minimum"], "amax": ["amin"], "pop_front": ["pop_back"], "rbegin": ["begin"], "rend": ["end"],
    "add_": ["copy_", "sub_"], "sub_": ["add_"], "copy_": ["add_"], "zero_": ["clone"], "all_reduce": ["all_gather"],
    "chunk": ["split"], "forward": ["backward"], "sqrt": ["exp"], "rsqrt": ["sqrt"], "emplace": ["insert_or_assign"],
    "ulysses_attention": ["ring_attention"], "reduce_within_region": ["reduce_parallel", "broadcast_parallel"]}
BODIES = {"FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "FUNCTION_TEMPLATE"}
LOOPS = {"FOR_STMT", "CXX_FOR_RANGE_STMT", "WHILE_STMT"}
CONTROL = LOOPS | {"IF_STMT", "SWITCH_STMT"}
JUMPS = {"RETURN_STMT", "BREAK_STMT", "CONTINUE_STMT", "CXX_THROW_EXPR"}


def joined(text):
    return " ".join(text.split())


def plain_type(kind):
    if kind.kind in (cindex.TypeKind.LVALUEREFERENCE, cindex.TypeKind.RVALUEREFERENCE):
        kind = kind.get_pointee()
    return kind.get_canonical().spelling.removeprefix("const ")


class Node:
    """A part of the syntax tree that is written in the file: characters [begin, end) of its text."""

    def __init__(self, file, cursor, parent):
        self.cursor, self.parent, self.kind = cursor, parent, cursor.kind.name
        self.begin, self.end = cursor.extent.start.offset, cursor.extent.end.offset
        self.text = file.text[self.begin:self.end]
        self.children = [Node(file, child, self) for child in cursor.get_children()]

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def ancestors(self):
        node = self
        while node := node.parent:
            yield node


class Call:
    """A call with brackets: of a function or method, or of a constructor."""

    def __init__(self, file, node):
        close = file.ends.index(node.end)
        opening = file.partner[close]
        name = opening - 1
        if file.tokens[name] == ">":  # template arguments
            name = max(i for i in range(name) if file.tokens[i] == "<") - 1
        self.begin, self.end, self.name = node.begin, node.end, file.tokens[name]
        self.name_begin, self.name_end = file.begins[name], file.ends[name]
        self.declares = node.parent.kind == "VAR_DECL" and node.parent.cursor.location.offset == self.name_begin
        self.dot = file.begins[name - 1] if file.tokens[name - 1] in (".", "->") else None
        self.arguments = file.outermost(node, file.ends[opening], file.begins[close])


class Statement:
    """A statement with its semicolon; `listed`: others may stand before and after it."""

    def __init__(self, file, node, siblings, listed):
        self.node, self.siblings, self.listed = node, siblings, listed
        self.begin, self.end = node.begin, file.after_semicolon(node.end)
        self.text = file.text[self.begin:self.end]
        self.kind = "CXX_THROW_EXPR" if self.text.startswith("throw") else node.kind
        self.line = joined(self.text)
        self.shown = self.line if len(self.line) <= 100 else self.line[:97] + "..."
        self.declares = self.kind == "DECL_STMT"
        self.names = [one.cursor.spelling for one in node.children if self.declares and one.kind == "VAR_DECL"]
        self.is_guard = re.match(r"check\b|\(", self.text) is not None

    def ends_function(self, statements):
        """Whether it is, or is in, the last statement of its function or lambda."""
        if self.siblings[-1] is not self:
            return False
        for node in self.node.ancestors():
            if node.kind in LOOPS:
                return False
            if node.kind == "LAMBDA_EXPR" or node.kind in BODIES:
                break
            if id(node) in statements:
                return statements[id(node)].ends_function(statements)
        return True

    def mentions(self, names):
        return any(re.search(rf"\b{re.escape(name)}\b", self.text) for name in names)


class StudentFile:
    """A student file, taken apart."""

    def __init__(self, path, unit, tasks):
        # One character for each byte, which is how clang counts.
        self.text = pathlib.Path(path).read_bytes().decode("latin-1")
        tokens = [t for t in unit.get_tokens(extent=unit.cursor.extent) if t.kind != cindex.TokenKind.COMMENT]
        self.tokens = [t.spelling for t in tokens]
        self.begins, self.ends = [t.extent.start.offset for t in tokens], [t.extent.end.offset for t in tokens]
        self.partner, opened = {}, []
        for i, token in enumerate(self.tokens):
            if token in ("(", "[", "{"):
                opened.append(i)
            elif token in (")", "]", "}"):
                self.partner[i] = opened.pop()
                self.partner[self.partner[i]] = i
        marked = re.finditer(r"// BEGIN SOLUTION (\S+)\n(.*?)// END SOLUTION \1\n", self.text, re.S)
        self.parts = [(one[1], one.start(2), one.end(2)) for one in marked if one[1] in tasks]
        self.functions = [Node(self, cursor, None) for cursor in self.defined(unit.cursor, path)]
        self.nodes = [node for function in self.functions for node in function.walk()]
        self.calls = self.all_calls()
        self.statements = {}
        for node in self.nodes:
            self.add_statements(node)

    def defined(self, cursor, path):
        """The functions that the file defines."""
        for child in cursor.get_children():
            if child.location.file and child.location.file.name == path:
                found = child.kind.name in BODIES and child.is_definition()
                yield from [child] if found else self.defined(child, path)

    def task_at(self, begin, end):
        return next((task for task, first, last in self.parts if first <= begin and end <= last), None)

    def token_from(self, begin):
        return next((i for i, at in enumerate(self.begins) if at >= begin), len(self.tokens) - 1)

    def after_semicolon(self, end):
        token = self.token_from(end)
        return self.ends[token] if self.tokens[token] == ";" else end

    def bracket_of(self, node):
        """The tokens ( and ) of an if or a loop."""
        opening = self.tokens.index("(", self.token_from(node.begin))
        return opening, self.partner[opening]

    def outermost(self, node, begin, end):
        """The nodes below one that are within the characters [begin, end), and in no other that is."""
        found, waiting = {}, list(node.children)
        while waiting:
            one = waiting.pop(0)
            if begin <= one.begin < one.end <= end:
                found.setdefault((one.begin, one.end), one)
            else:
                waiting.extend(one.children)
        return [found[place] for place in sorted(found) if not any(
            other != place and other[0] <= place[0] and place[1] <= other[1] for other in found)]

    def all_calls(self):
        calls = {}
        for node in self.nodes:
            operates = re.match(r"operator[^(]", node.cursor.spelling)
            if node.kind in ("CALL_EXPR", "CXX_STATIC_CAST_EXPR") and node.text.endswith(")") and not operates:
                call, place = Call(self, node), (node.begin, node.end)
                if call.name.isidentifier() and len(call.arguments) >= len(getattr(calls.get(place), "arguments", [])):
                    calls[place] = call
        return [calls[place] for place in sorted(calls)]

    def add_statements(self, node):
        lists = []
        if node.kind == "COMPOUND_STMT":
            lists = [[self.unlabelled(child) for child in node.children]]
        elif node.kind in CONTROL:
            lists = [[child] for child in node.children if child.begin >= self.ends[self.bracket_of(node)[1]]]
        for some in lists:
            siblings = []
            for child in some:
                siblings.append(Statement(self, child, siblings, node.kind == "COMPOUND_STMT"))
                self.statements[id(child)] = siblings[-1]

    def unlabelled(self, node):
        return self.unlabelled(node.children[-1]) if node.kind in ("CASE_STMT", "DEFAULT_STMT") else node

    def may_go(self, one):
        """Whether a statement can be left out or moved: no declaration, and no function ends without it."""
        stays = one.declares or one.kind in ("COMPOUND_STMT", "NULL_STMT") or one.is_guard
        return not stays and not (re.search(r"\breturn\b", one.text) and one.ends_function(self.statements))

    def is_guarded(self, at):
        """Whether it is inside what only checks what always holds, or throws: nothing to mutate there."""
        return any(one.begin <= at < one.end and (one.is_guard or (one.kind == "CXX_THROW_EXPR" and one.begin < at))
                   for one in self.statements.values())

    def locals_before(self, node):
        """Variables and parameters that are visible at a node, the nearest first: name -> type."""
        found = {}
        for one in sorted(self.nodes, key=lambda one: -one.begin):
            if one.kind in ("VAR_DECL", "PARM_DECL") and one.end <= node.begin and one.cursor.spelling:
                scope = one.parent.parent if one.parent.kind == "DECL_STMT" else one.parent
                if scope.begin <= node.begin and node.end <= scope.end:
                    found.setdefault(one.cursor.spelling, plain_type(one.cursor.type))
        return found

    def is_local(self, node):
        target = node.cursor.referenced
        return target is not None and target.kind.name in ("VAR_DECL", "PARM_DECL") and any(
            function.begin <= target.extent.start.offset and function.begin <= node.begin < function.end
            for function in self.functions)

    def is_read(self, node):
        after = self.tokens[self.token_from(node.end)]
        return after not in ("=", "+=", "-=", "*=", "/=", "++", "--") and self.text[node.begin - 2:node.begin] not in (
            "++", "--")

    def function_taking(self, node):
        """The name of the function whose argument this is, perhaps in a list in braces; or None."""
        calls = {(call.begin, call.end): call for call in self.calls}
        for parent in node.ancestors():
            call = calls.get((parent.begin, parent.end))
            if call and any(argument.begin <= node.begin < argument.end for argument in call.arguments):
                return call.name
            if parent.text != node.text and not parent.text.startswith("{"):
                return None
        return None

    def variables(self):
        """Uses of variables and parameters of the function."""
        return [n for n in self.nodes if n.kind == "DECL_REF_EXPR" and n.text == n.cursor.spelling and self.is_local(n)]

    def integers(self):
        return [node for node in self.variables() if plain_type(node.cursor.type) in INTEGERS and self.is_read(node)]

    def getters(self):
        """Calls of methods without arguments: the call, its text and that of its owner, whether that has ranks."""
        for call in self.calls:
            if call.dot is not None and not call.arguments:
                owner = self.text[call.begin:call.name_begin]
                of_ranks = re.split(r"\W+", owner.rstrip(".->"))[-1] in COMMUNICATORS
                yield call, self.text[call.begin:call.end], owner, of_ranks

    def literals(self):
        """Integers in decimal, with a sign if there is one: begin, end, value, whether it is a dimension."""
        for node in self.nodes:
            if node.kind == "INTEGER_LITERAL" and re.fullmatch(r"\d{1,9}", node.text):
                if node.parent.kind == "UNARY_OPERATOR" and node.parent.text == "-" + node.text:
                    node = node.parent
                yield node.begin, node.end, int(node.text), self.function_taking(node) in TAKES_DIMS

    def operations(self):
        """Operators between two operands: left, operator, where it is, right."""
        for node in self.nodes:
            overloaded = node.kind == "CALL_EXPR" and node.cursor.spelling.startswith("operator")
            if node.kind in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR") or overloaded:
                operands = [one for one in self.outermost(node, node.begin, node.end) if one.text not in OPERATORS]
                token = self.token_from(operands[0].end)
                if len(operands) == 2 and self.tokens[token] in OPERATORS and self.ends[token] <= operands[1].begin:
                    yield operands[0], self.tokens[token], self.begins[token], operands[1]


class Rules(StudentFile):
    """Each yields what is replaced: begin, end, text, and perhaps what describes it."""

    def rank(self):  # another rank than this one
        for call, whole, owner, of_ranks in self.getters():
            if call.name == "rank":
                others = "0", f"(({owner}rank() + 1) % {owner}size())", f"({owner}size() - 1 - {owner}rank())"
            else:
                others = "0", f"({whole} + 1)", f"({whole} - 1)"
            known = call.name in ("virtual_rank", "partner") or (call.name == "rank" and of_ranks)
            for text in others if known else ():
                yield call.begin, call.end, text
        for node in self.integers():
            if node.text in RANK_NAMES:
                yield node.begin, node.end, "0"

    def size(self):  # another number of ranks
        for call, whole, _, of_ranks in self.getters():
            for text in (f"({whole} - 1)", f"({whole} + 1)", "4", "1")[:4 if of_ranks and call.name == "size" else 2]:
                if call.name in COUNTS:
                    yield call.begin, call.end, text
        for node in self.integers():
            if node.text in SIZE_NAMES:
                yield node.begin, node.end, "4"

    def neighbour(self):  # the other neighbour
        for node in self.variables():
            for other in NEIGHBOURS.get(node.text, []):
                if self.is_read(node) and other in self.locals_before(node):
                    yield node.begin, node.end, other

    def index(self):  # an index or count next to the right one
        slices = [node for node in self.nodes if node.kind == "MEMBER_REF_EXPR" and
                  node.text.endswith((".begin", ".size")) and self.tokens[self.token_from(node.end)] != "("]
        for node in self.integers() + slices:
            yield node.begin, node.end, f"({node.text} + 1)"
            yield node.begin, node.end, f"({node.text} - 1)"

    def variable(self):  # another variable of the same type
        for node in self.variables():
            known = self.locals_before(node)
            kind = known.get(node.text)
            alike = [name for name, other in known.items()
                     if name != node.text and (other == kind or {other, kind} <= INTEGERS)]
            for name in alike[:2]:
                yield node.begin, node.end, name

    def dim(self):  # another dimension of a tensor
        for begin, end, value, of_dims in self.literals():
            # Not 1 for -1: of a matrix that is the same dimension.
            others = {-1: (-2, 0), 0: (1, 2)}.get(value, (value - 1, -1) if value < 0 else (value + 1, value - 1))
            for other in others if of_dims else ():
                yield begin, end, str(other)

    def number(self):  # a number next to the right one
        for begin, end, value, of_dims in self.literals():
            for other in () if of_dims else (value + 1, value - 1):
                yield begin, end, str(other)

    def operator(self):  # another operator
        for _, mark, at, _ in self.operations():
            for other in OPERATORS[mark]:
                yield at, at + len(mark), other
        for node in self.nodes:
            unary = node.kind in ("UNARY_OPERATOR", "CALL_EXPR") and len(node.children) <= 2
            if unary and re.match(r"[!~-][^\d\s=-]", node.text):
                yield node.begin, node.begin + 1, ""

    def operand(self):  # an operand left out
        for left, mark, at, right in self.operations():
            if mark in OPERAND_OPERATORS:
                yield at, right.end, ""
                if mark not in ("/", "-", "%"):
                    yield left.begin, right.begin, ""

    def condition(self):  # a condition that is never, always or wrongly met
        for node in self.nodes:
            if node.kind in ("IF_STMT", "FOR_STMT", "WHILE_STMT"):
                opening, close = self.bracket_of(node)
                ends = [self.begins[i] for i in range(opening, close) if self.tokens[i] == ";"] + [self.begins[close]]
                begin = ends[0] if len(ends) > 1 else self.ends[opening]
                for one in self.outermost(node, begin, ends[min(1, len(ends) - 1)]):
                    yield one.begin, one.end, f"!({one.text})"
                    yield one.begin, one.end, "false"
                    if node.kind == "IF_STMT":  # a loop would have no end
                        yield one.begin, one.end, "true"
            elif node.kind == "CXX_BOOL_LITERAL_EXPR":
                yield node.begin, node.end, "false" if node.text == "true" else "true"
            elif node.kind == "CONDITIONAL_OPERATOR":
                yield node.children[0].begin, node.children[0].end, "true"
                yield node.children[0].begin, node.children[0].end, "false"

    def swapped_arguments(self):  # two arguments in the other order
        lists = [(call.name, call.arguments) for call in self.calls if call.name not in SYMMETRIC]
        for node in self.nodes:
            if node.text.startswith("{") and node.kind.endswith("_EXPR"):
                lists.append(("", self.outermost(node, node.begin + 1, node.end - 1)))
        for name, some in lists:
            # Neighbours; and what two messages of one call have in common.
            for a, b in list(zip(some, some[1:])) + list(zip(some, some[2:]) if name == "sendrecv" else ()):
                yield a.begin, b.end, b.text + self.text[a.end:b.begin] + a.text

    def dropped_argument(self):  # the last argument left out
        for call in self.calls:
            if len(call.arguments) > 1 and not call.arguments[-1].text.startswith('"'):  # a name, for a message
                yield call.arguments[-2].end, call.arguments[-1].end, ""

    def view_for_copy(self):  # the tensor itself instead of a copy, or a result that is not kept
        for call in self.calls:
            if call.name in ("empty_like", "zeros_like", "empty_columns") and call.arguments:
                yield call.begin, call.end, call.arguments[0].text
            if call.dot is None:
                continue
            if call.name in COPIES:
                yield call.dot, call.end, ""
            if call.name.endswith("_"):  # the result is lost
                yield call.name_begin, call.name_end, call.name[:-1]
            if call.name in ("add", "square", "exp", "softmax", "div", "mul"):  # in the place of its first operand
                yield call.name_begin, call.name_end, call.name + "_"

    def copy_for_move(self):  # a copy where something is handed over
        for call in self.calls:
            if call.name == "move" and len(call.arguments) == 1:
                yield call.begin, call.end, call.arguments[0].text

    def sum_for_mean(self):  # a sum instead of a mean, or the reverse
        for call in self.calls:
            if call.name in ("mean", "sum") and call.dot is not None:
                yield call.name_begin, call.name_end, "sum" if call.name == "mean" else "mean"
            if call.name == "mse_loss" and len(call.arguments) == 2:
                a, b = call.arguments
                yield call.begin, call.end, f"torch::mse_loss({a.text}, {b.text}, at::Reduction::Sum)"
        for node in self.nodes:
            if node.kind == "DECL_REF_EXPR" and node.text.endswith("Reduction::Sum"):
                yield node.end - 3, node.end, "Mean"

    def scale(self):  # a result times two or divided by the number of ranks
        for call in self.calls:
            whole = self.text[call.begin:call.end]
            if call.name in REDUCTIONS | {"all_reduce", "mse_loss", "mean"}:
                yield call.begin, call.end, whole + ".mul_(2)"
            if call.name == "all_reduce" and call.dot is not None:
                yield call.begin, call.end, f"{whole}.div_({self.text[call.begin:call.name_begin]}size())"
            if call.name in REDUCTIONS and len(call.arguments) == 2:
                yield call.begin, call.end, f"{whole}.div_({call.arguments[1].text}.size())"
            if call.name in ("add_", "sub_") and call.dot is not None and len(call.arguments) == 1:
                added = call.arguments[0]
                yield added.begin, added.end, f"({added.text}) * 2"

    def other_call(self):  # another function of the same kind
        for call in self.calls:
            for other in OTHER_CALLS.get(call.name, []):
                yield call.name_begin, call.name_end, other

    def dropped_call(self):  # an argument or the object instead of the function's result
        whole_statements = {(one.begin, one.node.end) for one in self.statements.values()}
        for call in self.calls:
            whole = call.declares or (call.begin, call.end) in whole_statements
            if whole or call.name in TYPES | COPIES | {"move"}:
                continue
            if call.dot is not None:
                yield call.dot, call.end, ""
            if call.arguments and not call.arguments[0].text.startswith(("[", "{")):
                yield call.begin, call.end, f"({call.arguments[0].text})"

    def dropped_statement(self):  # a statement left out; such as a wait
        for one in self.statements.values():
            inside = [other for other in self.statements.values() if other is not one and one.begin <= other.begin and
                      other.end <= one.end and other.kind != "COMPOUND_STMT"]
            # A loop or an if around a single statement: leaving out that is the same.
            if self.may_go(one) and not (one.kind in CONTROL and len(inside) < 2):
                yield one.begin, one.end, "" if one.listed else "{}", f"without: {one.shown}"

    def doubled_statement(self):  # a statement done twice
        for one in self.statements.values():
            # What is assigned without a call is the same the second time.
            assigns = re.match(r"[\w.\[\]>-]+ = [^(]*$", one.line)
            if self.may_go(one) and one.kind not in JUMPS | {"IF_STMT"} and not assigns:
                twice = one.text + "\n" + one.text
                yield one.begin, one.end, twice if one.listed else f"{{ {twice} }}", f"twice: {one.shown}"

    def swapped_statements(self):  # two statements in the other order; such as a send and a receive
        for a, b in [(one, other) for one in self.statements.values() if one.listed
                     for other in one.siblings[one.siblings.index(one) + 1:][:1]]:
            if {a.kind, b.kind} & JUMPS or a.is_guard or b.is_guard:
                continue
            names = {node.text for node in a.node.walk() if node.kind in ("DECL_REF_EXPR", "MEMBER_REF_EXPR")}
            if not b.mentions([name for name in names if name.isidentifier()] + a.names):
                continue  # their order is of no importance
            if (self.may_go(a) and self.may_go(b)) or \
                    (a.declares and self.may_go(b) and not b.mentions(a.names)) or \
                    (b.declares and self.may_go(a) and not a.mentions(b.names)):
                yield a.begin, b.end, b.text + self.text[a.end:b.begin] + a.text, f"before it: {b.shown}"

    def late_message(self):  # a message posted at the end of the block instead of early
        for one in self.statements.values():
            if not one.listed or not POSTING.search(one.text) or one.kind == "RETURN_STMT":
                continue
            # After the last statement that may come before it: none that ends the block, nor uses what it declares.
            last = one
            for after in one.siblings[one.siblings.index(one) + 1:]:
                waits = "wait()" in after.text and (after.declares or not POSTING.search(after.text))
                if after.kind in JUMPS or after.mentions(one.names) or (waits and not one.names):
                    break
                last = after
            if last is one:
                continue
            rest, what = self.text[one.end:last.end] + "\n", self.text.count("\n", 0, last.begin) + 1
            what = f"only after line {what}: {one.shown}"
            declared = re.fullmatch(r"(?:const )?([\w:<>]+) (\w+) = (.*);", one.text, re.S)
            if self.may_go(one):
                yield one.begin, last.end, rest + one.text, what
            elif declared and declared[1] != "auto":
                kind, name, value = declared.groups()
                yield one.begin, last.end, f"{kind} {name}{{}};{rest}{name} = {value};", what

    def early_wait(self):  # a wait as soon as the message is posted
        statements = {(one.begin, one.node.end): one for one in self.statements.values()}
        for call in self.calls:
            one = statements.get((call.begin, call.end))
            if one and call.name == "push_back" and POSTING.search(one.text):
                message = call.arguments[0].text
                # Not as well: what is in the list is waited for later, and twice is an error.
                yield one.begin, one.end, f"({message}).wait();", f"waits at once: {joined(message)}"


def parsed(path, command):
    """The file's syntax tree, with the options of the build's own command."""
    options = shlex.split(command)[1:]
    options = options[:options.index("-o")]
    plain = list(options)  # without a precompiled header, which another compiler or version may have made
    while "-include-pch" in plain:
        at = plain.index("-include-pch")
        plain[at - 1:at + 3] = []
    errors = ["clang cannot read it"]
    for some in (options, plain):
        try:
            unit = cindex.Index.create().parse(path, some)
        except cindex.TranslationUnitLoadError:
            continue
        errors = [str(one) for one in unit.diagnostics if one.severity >= cindex.Diagnostic.Error]
        if not errors:
            return unit
    raise ValueError(f"{path}: {errors[0]}")


def rows_of(path, name, command, tasks):
    """The mutants of one file, as rows. Equal ones, whatever the rule, are made once."""
    file = Rules(path, parsed(path, command), tasks)
    made, rows = {file.text}, []
    for rule in [name for name in vars(Rules) if not name.startswith("_")]:
        for begin, end, text, *what in sorted(getattr(file, rule)()):
            task, replaced = file.task_at(begin, end), file.text[begin:end]
            whole = file.text[:begin] + text + file.text[end:]
            if not task or whole in made or file.is_guarded(begin):
                continue
            made.add(whole)
            what = what[0] if what else f"{joined(replaced)} -> {joined(text) or 'nothing'}"
            row = {"file": name, "task": task, "rule": rule, "what": what, "expected": "wrong", "at": begin,
                   "replace": replaced, "with": text}
            rows.append("[[solution]]\n" + "".join(
                f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in row.items()))
    return "\n".join(rows)


def main():
    if len(sys.argv) != 4:
        return "usage: generate.py ROOT BUILD FOLDER"
    root, build, folder = sys.argv[1:]
    try:
        rubric = tomllib.loads(pathlib.Path(root, folder, "rubric.toml").read_text())
        commands = json.loads(pathlib.Path(build, "compile_commands.json").read_text())
        student = pathlib.Path(root, folder, "student").resolve()
        tasks = {task["id"] for task in rubric["task"]}
        work = sorted((one["file"], f"{folder}/student/{pathlib.Path(one['file']).relative_to(student)}",
                       one["command"], tasks) for one in commands if pathlib.Path(one["file"]).is_relative_to(student))
        if not work:
            return f"generate.py: {build} compiles no file of {student}"
        with multiprocessing.Pool() as pool:
            rows = pool.starmap(rows_of, work, chunksize=1)
    except (OSError, ValueError) as failure:
        return f"generate.py: {failure}"
    sys.stdout.buffer.write("\n".join(filter(None, rows)).encode("latin-1"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
