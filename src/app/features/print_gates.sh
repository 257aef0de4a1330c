#!/bin/sh
# Prints gates.txt from the tables of docs/compat/features.md: src/app/features/print_gates.sh > src/app/features/gates.txt
cd "$(dirname "$0")/../../.." || exit 1
exec awk -F' *[|] *' '
BEGIN {
  print "# Printed by print_gates.sh from docs/compat/features.md; see gate_table.cc for how it is read."
  scope = "all"
}
/^## 1[.]/ { scope = "kubelet"; preset = "on" }
/^## 2[.]/ { scope = "kubelet"; preset = "on" }
/^## 3[.]/ { scope = "kubelet"; preset = "on" }
/^## 4[.]/ { scope = "library"; preset = "" }
/^## 5[.]/ { scope = "kubelet"; preset = "off" }
/^## 6[.]/ { scope = "other"; preset = "" }
/^[|]/ && $2 == "gate" { form = $3; next }
/^[|]---/ { next }
/^[|]/ && form == "needs" { needs[$2] = needs[$2] (needs[$2] == "" ? "" : ",") $3; next }
/^[|]/ && form == "stage" {
  split($3, stage, /[ ,]/)
  gates[++count] = $2
  row[$2] = stage[1] " " (preset == "" || scope == "all" ? $4 : preset) " " ($3 ~ /locked/ ? "locked" : "free") " " scope
}
END {
  for (i = 1; i <= count; i++) {
    name = gates[i]
    print name, row[name], (name in needs ? needs[name] : "-") | "LC_ALL=C sort"
  }
}' docs/compat/features.md
