package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The pods plan: pods as a cluster has them. Each has the volume of a service account's token, in which there is also a
// configMap that all share, a configMap and a secret of its own, and an emptyDir.
var podsPlan = plan{
	name:  "pods",
	title: "Ordinary pods",
	sizes: "1000",
	qps:   "50,1000",
	columns: []column{
		{"start_s", "until all are Running in the API, s", "%.2f"},
		{"created_s", "(of that, until all were made, s)", "%.2f"},
		{"start_after_s", "(after the last was made, s)", "%.2f"},
		{"start_cpu_ms", "CPU of a pod's start, ms", "%.2f"},
		{"start_requests", "API requests of a start", "%.2f"},
		{"start_patches", "(of those, patches of its status)", "%.2f"},
		{"start_calls", "CRI calls of a start", "%.1f"},
		{"watches", "watches", "%.0f"},
		{"idle_cpu_pct", "CPU idle, %", "%.2f"},
		{"rss_mb", "memory, MB", "%.0f"},
		{"empty_rss_mb", "(without pods, MB)", "%.0f"},
		{"update_s", "configMap of all updated: until the last file changed, s", "%.2f"},
		{"update_cpu_ms", "CPU of it for each pod, ms", "%.2f"},
		{"update_requests", "API requests meanwhile", "%.0f"},
		{"delete_s", "deletion of all, s", "%.2f"},
		{"delete_requests", "API requests of a deletion", "%.2f"},
		{"left_mounts", "mounts left 2 min later", "%.0f"},
		{"left_folders", "folders of pods left", "%.0f"},
	},
	podOf:   ordinaryPod,
	prepare: makeObjects,
	measure: measurePods,
	goals:   podsGoals,
}

const (
	commonConfigMap = "kube-root-ca.crt" // as every namespace has it
	commonFile      = "ca.crt"
	tokenVolume     = "kube-api-access"
)

func podsGoals(s *sheet) []goal {
	size := s.rounds[len(s.rounds)-1].pods
	first, last := s.qps[0], s.qps[len(s.qps)-1]
	var goals []goal
	if ours, theirs := s.find("denselet", size, first), s.find("kubelet", size, first); ours != nil && theirs != nil {
		ratio := func(key, what, column string, limit float64) {
			goals = append(goals, goal{key, what, ours.values[column], theirs.values[column], limit})
		}
		ratio("start_wall_ratio", fmt.Sprintf("until all are Running at kubeAPIQPS %d, s", first), "start_s", 1.0/5)
		ratio("start_cpu_ratio", "CPU of a start, ms", "start_cpu_ms", 1.0/5)
		ratio("rss_ratio", "memory, MB", "rss_mb", 1.0/4)
		ratio("idle_cpu_ratio", "CPU idle, %", "idle_cpu_pct", 0)
		ratio("update_ratio", "until the last file changed, s", "update_s", 0)
	}
	if ours, theirs := s.find("denselet", size, last), s.find("kubelet", size, last); first != last && ours != nil && theirs != nil {
		goals = append(goals,
			goal{"start_wall_raised_ratio", fmt.Sprintf("until all are Running at kubeAPIQPS %d, s", last), ours.values["start_s"], theirs.values["start_s"], 0},
			goal{"start_cpu_raised_ratio", fmt.Sprintf("CPU of a start at kubeAPIQPS %d, ms", last), ours.values["start_cpu_ms"], theirs.values["start_cpu_ms"], 0})
	}
	return goals
}

func ownName(i int) string { return "own-" + strconv.Itoa(i) }

// makeObjects makes what pods refer to, as far as an earlier round has not.
func makeObjects(b *bench, pods int) {
	client, ctx := b.cluster.client.CoreV1(), context.Background()
	unlessThere := func(err error) error {
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	common := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: commonConfigMap}, Data: map[string]string{commonFile: "first"}}
	_, err := client.ConfigMaps(namespace).Create(ctx, common, metav1.CreateOptions{})
	check(unlessThere(err))
	check(inParallel("objects made", pods, func(i int) error {
		meta := metav1.ObjectMeta{Name: ownName(i)}
		configMap := &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"config.yaml": "number: " + strconv.Itoa(i) + "\n"}}
		if _, err := client.ConfigMaps(namespace).Create(ctx, configMap, metav1.CreateOptions{}); unlessThere(err) != nil {
			return err
		}
		secret := &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"password": "secret " + strconv.Itoa(i)}}
		_, err := client.Secrets(namespace).Create(ctx, secret, metav1.CreateOptions{})
		return unlessThere(err)
	}))
}

func ordinaryPod(node, name string, i int) *corev1.Pod {
	pod := plainPod(node, name, i)
	expiration := int64(3607) // as the API server's own
	pod.Spec.Volumes = []corev1.Volume{
		{Name: tokenVolume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &expiration, Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: commonConfigMap},
				Items: []corev1.KeyToPath{{Key: commonFile, Path: commonFile}}}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}}},
		}}}},
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: ownName(i)}}}},
		{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: ownName(i)}}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{
		{Name: tokenVolume, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true},
		{Name: "config", MountPath: "/etc/config"},
		{Name: "secret", MountPath: "/etc/secret", ReadOnly: true},
		{Name: "scratch", MountPath: "/scratch"},
	}
	return pod
}

func measurePods(b *bench, n *node, r *round) {
	w := b.cluster.watch(n.name)
	defer close(w.stop)
	names := namesOf(n, r.pods)
	uids := r.start(b, n, w, names)
	r.idle(b, n)
	r.update(b, n, uids)
	r.delete(b, n, w, names)
	r.leftovers(n)
}

// A configMap that all pods have is changed, as when a cluster gets a new authority.
func (r *round) update(b *bench, n *node, uids []string) {
	stage("update")
	n.audit.requests()
	content := "updated beside " + n.name
	changed := func(uid string) bool {
		text, err := os.ReadFile(filepath.Join(n.path("root/pods"), uid, "volumes/kubernetes.io~projected", tokenVolume, commonFile))
		return err == nil && string(text) == content // it may be replaced while it is opened
	}
	if changed(uids[0]) {
		fail("the file is new before it was changed")
	}
	cpu, began := n.agent.cpu(), time.Now()
	common := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: commonConfigMap}, Data: map[string]string{commonFile: content}}
	_, err := b.cluster.client.CoreV1().ConfigMaps(namespace).Update(context.Background(), common, metav1.UpdateOptions{})
	check(err)
	// One file after the other is waited for: when the last was seen, all have changed.
	done := 0
	n.await("files that changed, of those looked at", 10*time.Minute, func() (int, int) {
		for done < len(uids) && changed(uids[done]) {
			done++
		}
		return done, len(uids)
	})
	took := time.Since(began).Seconds()
	r.values["update_s"] = took
	r.values["update_cpu_ms"] = r.beyondIdle(n.agent.cpu()-cpu, took) * 1e3 / float64(r.pods)
	r.values["update_requests"] = float64(sum(n.audit.requests()))
}

// leftovers are looked for until there are none, or for two minutes.
func (r *round) leftovers(n *node) {
	stage("leftovers")
	folders := func() int {
		entries, err := os.ReadDir(n.path("root/pods"))
		if err != nil && !os.IsNotExist(err) {
			check(err)
		}
		return len(entries)
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end) && n.mounts()+folders() > 0; {
		time.Sleep(200 * time.Millisecond)
	}
	r.values["left_mounts"], r.values["left_folders"] = float64(n.mounts()), float64(folders())
}
