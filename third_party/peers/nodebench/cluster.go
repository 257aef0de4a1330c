package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "nodebench"

// podMaker makes one of a node's pods, number i.
type podMaker func(node, name string, i int) *corev1.Pod

// cluster is the control plane, as its administrator sees it.
type cluster struct {
	client *kubernetes.Clientset
	podOf  podMaker
}

func newCluster(podOf podMaker) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.QPS, config.Burst = 10000, 10000 // what is measured is the agent
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &cluster{client: client, podOf: podOf}
	ctx := context.Background()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	return c, nil
}

// plainPod is the least that runs.
func plainPod(node, name string, _ int) *corev1.Pod {
	no, grace := false, int64(1)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "nodebench"}},
		Spec: corev1.PodSpec{
			NodeName:                      node,
			AutomountServiceAccountToken:  &no,
			TerminationGracePeriodSeconds: &grace,
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name:    "main",
				Image:   "example.org/main:1",
				Command: []string{"sh", "-c", "sleep inf"},
			}},
		},
	}
}

// create makes pods on a node, some at a time, and returns their uids.
func (c *cluster) create(node string, names []string) ([]string, error) {
	uids := make([]string, len(names))
	err := inParallel("pods made", len(names), func(i int) error {
		pod, err := c.client.CoreV1().Pods(namespace).Create(context.Background(), c.podOf(node, names[i], i), metav1.CreateOptions{})
		if err == nil {
			uids[i] = string(pod.UID)
		}
		return err
	})
	return uids, err
}

func (c *cluster) delete(names []string) error {
	return inParallel("pods asked to go", len(names), func(i int) error {
		return ignoreMissing(c.client.CoreV1().Pods(namespace).Delete(context.Background(), names[i], metav1.DeleteOptions{}))
	})
}

func ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c *cluster) nodeIsReady(name string) bool {
	node, err := c.client.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// forget removes a node that is measured to the end.
func (c *cluster) forget(node string) {
	_ = c.client.CoreV1().Nodes().Delete(context.Background(), node, metav1.DeleteOptions{})
}

// inParallel does it for 0 to n-1, some at a time, says now and then how far it is, and returns one of the errors.
func inParallel(what string, n int, do func(int) error) error {
	const workers = 16
	queue := make(chan int)
	failed := make(chan error, workers)
	var all sync.WaitGroup
	for range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range queue {
				if err := do(i); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		}()
	}
	for i, progress := 0, newProgress(what); i < n; i++ {
		queue <- i
		progress.note(i, n)
	}
	close(queue)
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func nodeKubeconfig(node string) []byte {
	text, err := exec.Command("control_plane.sh", "node-kubeconfig", node).Output()
	if err != nil {
		fail(fmt.Errorf("control_plane.sh node-kubeconfig: %w", err))
	}
	return text
}
