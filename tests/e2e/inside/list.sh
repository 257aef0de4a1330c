# What a container sees, listed from within by its own shell (busybox). $1: the directories and files to walk.
# Numbers that only this run has (ids, devices) are left out here, names that only it has are replaced by inside.sh.
echo "# who"
grep -E '^(Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):' /proc/1/status | tr '\t' ' ' | sed 's/ *$//'
echo "command $(tr '\0' '|' </proc/1/cmdline)"
echo "folder $(readlink /proc/1/cwd)"
echo "hostname $(hostname)"
echo "# environment"
tr '\n\0' '~\n' </proc/1/environ | sort
echo "# mounts: place, options, root, propagation, file system, source, its options"
# 36 35 98:0 /root /place rw,noatime master:1 - ext3 /dev/root rw,errors=continue
while read -r _ _ _ root place options rest; do
  shared=${rest%%- *}
  rest=${rest#*- }
  echo "$place $options $root [$(echo $shared | sed 's/:[0-9]*//g')] $rest"
done </proc/1/mountinfo | sort
echo "# files"
for top in $1; do
  find "$top" | sort | while read -r path; do
    line="$path $(stat -c '%F %a %u:%g' "$path")"
    if [ -L "$path" ]; then
      line="$line -> $(readlink "$path")"
    elif [ -f "$path" ] && [ -r "$path" ]; then
      case $(head -c 3 "$path") in
        eyJ) line="$line TOKEN" ;;
        *) line="$line $(sha256sum <"$path" | cut -c1-16)" ;;
      esac
    fi
    echo "$line"
  done
done
for file in /etc/hosts /etc/hostname /etc/resolv.conf; do
  [ -f $file ] || continue
  echo "# $file $(stat -c '%a %u:%g' $file)"
  if [ $file != /etc/resolv.conf ]; then
    cat $file
    continue
  fi
  # Upstream writes the options of a pod's dnsConfig in the random order of a map.
  while read -r first rest; do
    [ "$first" != options ] || rest=$(echo "$rest" | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/ $//')
    echo "$first${rest:+ $rest}"
  done <$file
done
