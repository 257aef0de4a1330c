package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// process is one that ends with us, whatever happens to us.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
}

func start(log, program string, args ...string) *process {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	check(err)
	defer file.Close()
	command := exec.Command(program, args...)
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	check(command.Start())
	p := &process{command: command, ended: make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(p.ended)
	}()
	return p
}

func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

func (p *process) runs() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *process) read(name string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.command.Process.Pid, name))
	if err != nil {
		fail("the process is gone: " + p.command.Path)
	}
	return string(text)
}

// cpu is what the process has used so far, in seconds, and what it waited for has: the kubelet mounts by a program.
func (p *process) cpu() float64 {
	const clockTicks = 100 // a second
	text := p.read("stat")
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	user, _ := strconv.Atoi(fields[13])
	system, _ := strconv.Atoi(fields[14])
	return p.ownCPU() + float64(user+system)/clockTicks
}

// ownCPU reads the clock of the other process, as clock_getcpuclockid(3) names it: /proc counts in hundredths of a second,
// too coarse for an agent that does nothing.
func (p *process) ownCPU() float64 {
	const schedulerClock = 2
	clock := uintptr(uint32(^int32(p.command.Process.Pid)<<3 | schedulerClock))
	var now syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		fail(fmt.Errorf("the clock of process %d: %w", p.command.Process.Pid, errno))
	}
	return float64(now.Nano()) / 1e9
}

func (p *process) rssMB() float64 {
	for _, line := range strings.Split(p.read("status"), "\n") {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			check(err)
			return float64(kib) * 1024 / 1e6
		}
	}
	fail("no VmRSS")
	return 0
}
